import { useQuery } from "@tanstack/react-query";
import { Pencil, Trash2, X } from "lucide-react";
import { useState } from "react";
import { featuresQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { IconButton } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { lazyDialog } from "../../ui/lazy.tsx";
import { Card } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { findRenewal } from "../credits/grants.ts";
import type { Customer } from "../customers/queries.ts";
import { usePlanTerms } from "../customers/use-plan-terms.ts";
import type { Grant } from "../ledger/queries.ts";
import { describeOverrides, type OverrideLine, type Overrides } from "./override-sentences.ts";
import { OVERRIDES_PATH, type OverridesBody, withoutLine } from "./override-values.ts";

export const EditOverridesDialog = lazyDialog(() =>
  import("./overrides-dialog.tsx").then(({ OverridesDialog }) => OverridesDialog),
);

type DialogProps = { customer: Customer; onClose: () => void };

/** Lists the customer's overrides. Hidden if there are none. */
export function OverridesCard({ customer, grants }: { customer: Customer; grants: readonly Grant[] }) {
  const { overrides } = customer;
  return overrides === null ? null : <Listed customer={customer} overrides={overrides} grants={grants} />;
}

type Act = { kind: "edit" } | { kind: "remove"; line: OverrideLine } | { kind: "remove-all" };

function Listed({
  customer,
  overrides,
  grants,
}: {
  customer: Customer;
  overrides: Overrides;
  grants: readonly Grant[];
}) {
  const scope = useScope();
  const isOperator = useMayActAs("operator");
  const version = usePlanTerms(customer);
  const { data: features = [] } = useQuery(featuresQuery(scope));
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  const [act, setAct] = useState<Act | null>(null);
  const onClose = () => setAct(null);
  const lines = describeOverrides(overrides, { version, features, pools });
  const renewalOf = (pool: string): string | null => {
    const allowance = version?.allowances.find((each) => each.pool === pool);
    return allowance === undefined ? null : findRenewal(allowance, grants);
  };
  return (
    <Card
      title="Overrides"
      note={
        overrides.endsAt === null ? (
          "No end date"
        ) : (
          <>
            Until <Time at={overrides.endsAt} />
          </>
        )
      }
      actions={
        isOperator && (
          <>
            <IconButton icon={Pencil} label="Edit overrides" onClick={() => setAct({ kind: "edit" })} />
            <IconButton
              icon={Trash2}
              label="Remove all overrides"
              onClick={() => setAct({ kind: "remove-all" })}
            />
          </>
        )
      }
      flush
    >
      <ul aria-label="Overrides">
        {lines.map((line) => (
          <li
            key={`${line.kind} ${line.key}`}
            className="flex items-start justify-between gap-3 border-b border-line px-4 py-2.5 last:border-b-0"
          >
            <div className="min-w-0">
              <p className="font-medium wrap-anywhere">{line.name}</p>
              {line.terms.map((term) => (
                <p key={term}>{term}</p>
              ))}
              {line.isLater && <FromNextPeriod renewal={renewalOf(line.key)} />}
            </div>
            {isOperator && lines.length > 1 && (
              <IconButton
                icon={X}
                label={`Remove ${line.name}`}
                onClick={() => setAct({ kind: "remove", line })}
              />
            )}
          </li>
        ))}
      </ul>
      {act?.kind === "edit" && <EditOverridesDialog customer={customer} onClose={onClose} />}
      {(act?.kind === "remove" || act?.kind === "remove-all") && (
        <RemoveDialog
          customer={customer}
          what={act.kind === "remove" ? act.line.name : null}
          body={act.kind === "remove" ? withoutLine(overrides, act.line) : {}}
          onClose={onClose}
        />
      )}
    </Card>
  );
}

function FromNextPeriod({ renewal }: { renewal: string | null }) {
  return (
    <p className="text-caption text-muted">
      The new amount applies from the next period
      {renewal !== null && (
        <>
          , which starts <Time at={renewal} as="day" />
        </>
      )}
      .
    </p>
  );
}

function RemoveDialog({
  customer: { customerId, name },
  what,
  body,
  onClose,
}: DialogProps & {
  /** Name of the overridden feature or pool. Null removes all overrides. */
  what: string | null;
  /** The remaining overrides. */
  body: OverridesBody;
}) {
  const scope = useScope();
  // Frozen, because the card shows the remaining overrides while this dialog closes.
  const [request] = useState({ params: { path: { ...scope, customerId } }, body });
  const who = name ?? customerId;
  const remove = useWrite("put", OVERRIDES_PATH, {
    onSuccess: async () => {
      notify(what === null ? `Removed all overrides for ${who}` : `Removed ${who}'s override for ${what}`);
      onClose();
      await refresh("customers");
    },
  });
  return (
    <WriteDialog
      title={what === null ? `Remove all overrides for ${who}` : `Remove override for ${what}`}
      write={remove}
      request={request}
      action={what === null ? "Remove all overrides" : "Remove override"}
      tone="danger"
      onClose={onClose}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>The plan's features, costs, limits and overage will apply again from the next request.</li>
        <li>Credits that were already granted are kept until their period ends.</li>
      </ul>
    </WriteDialog>
  );
}
