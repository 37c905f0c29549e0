import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { webhooksQuery } from "../../api/webhook-list.ts";
import { nameLowBalances } from "../../format/low-balances.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useMayActAs, usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton, TextLink } from "../../ui/button.tsx";
import { lazyDialog } from "../../ui/lazy.tsx";
import { Card } from "../../ui/page.tsx";
import { Mono } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";
import type { PoolAlerts, TopUpRule } from "./alert-values.ts";

export const EditAlertsDialog = lazyDialog(() =>
  import("./alerts-dialog.tsx").then(({ AlertsDialog }) => AlertsDialog),
);

/** Lists the customer's own thresholds and rules for top-ups. Hidden if there are none. */
export function AlertsCard({ customer }: { customer: Customer }) {
  const isOperator = useMayActAs("operator");
  const nameOf = usePoolNames();
  const [edited, setEdited] = useState<string | null>(null);
  const pools = Object.entries(customer.alerts.pools);
  if (pools.length === 0) return null;
  return (
    <Card title="Alerts and top-ups" flush>
      <ul aria-label="Alerts and top-ups">
        {pools.map(([pool, alerts]) => (
          <li
            key={pool}
            className="flex items-start justify-between gap-3 border-b border-line px-4 py-2.5 last:border-b-0"
          >
            <div className="flex min-w-0 flex-col gap-1">
              <p className="font-medium wrap-anywhere">{nameOf(pool)}</p>
              <Rules alerts={alerts} />
            </div>
            {isOperator && (
              <IconButton
                icon={Pencil}
                label={`Edit alerts for ${nameOf(pool)}`}
                onClick={() => setEdited(pool)}
              />
            )}
          </li>
        ))}
      </ul>
      {pools.some(([, { topUp }]) => topUp !== null) && <NotReceived />}
      {edited !== null && (
        <EditAlertsDialog customer={customer} pool={edited} onClose={() => setEdited(null)} />
      )}
    </Card>
  );
}

function Rules({ alerts: { lowBalances, topUp } }: { alerts: PoolAlerts }) {
  return (
    <>
      {lowBalances !== null && (
        <>
          <p>
            {lowBalances.length === 0
              ? "No low-balance notices"
              : `Low-balance notices below ${nameLowBalances(lowBalances)}`}
          </p>
          <p className="text-caption text-muted">Replaces the pool's thresholds</p>
        </>
      )}
      {topUp !== null && <TopUp topUp={topUp} />}
    </>
  );
}

function TopUp({ topUp: { below, credits, monthlyMax, requestedThisMonth, open } }: { topUp: TopUpRule }) {
  return (
    <>
      <p>
        Below {formatCount(below)}: request {countOf(credits, "credit")}
      </p>
      <p className="text-caption text-muted">
        {formatCount(requestedThisMonth)} of {formatCount(monthlyMax)} requested this month (UTC)
      </p>
      {open !== null && (
        <div className="flex flex-col items-start gap-1 pt-1">
          <Badge tone="warn">Waiting for a purchase</Badge>
          <p className="text-caption text-muted">
            Requested <Time at={open.requestedAt} as="ago" />
            {open.attempt > 1 && `, attempt ${formatCount(open.attempt)}`}
          </p>
          <p className="text-caption wrap-anywhere text-muted">
            <Mono>{open.topUpId}</Mono>
          </p>
        </div>
      )}
    </>
  );
}

/** Without a webhook for this type, nothing is requested. */
function NotReceived() {
  const scope = useScope();
  const { data: webhooks } = useQuery(webhooksQuery(scope));
  const isReceived = webhooks?.some(({ enabled, types }) => enabled && types.includes("topup.due")) ?? true;
  if (isReceived) return null;
  return (
    <p className="border-t border-line px-4 py-2 text-caption text-warn">
      No enabled webhook receives topup.due, so no top-ups are requested.{" "}
      <TextLink to="/projects/$projectId/$environment/webhooks" params={scope}>
        Open webhooks
      </TextLink>
    </p>
  );
}
