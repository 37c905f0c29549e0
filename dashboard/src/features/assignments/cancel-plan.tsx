import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { plansQuery } from "../../api/catalog-lists.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { formatBalances } from "../../format/numbers.ts";
import { nameOfKept } from "../../format/plan-standing.ts";
import { formatDay, formatTime } from "../../format/times.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Choices } from "../../ui/choices.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";

type DialogProps = { customer: Customer; onClose: () => void };

const PLAN_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan";

/** Ends the plan at the end of the current period, or now. */
export function CancelPlanDialog({ customer: opened, onClose }: DialogProps) {
  // Frozen, because the refreshed customer has no plan to cancel.
  const [customer] = useState(opened);
  const { customerId, plan } = customer;
  const scope = useScope();
  const clock = useClock();
  const nameOf = usePoolNames();
  const periodEnd = findPeriodEnd(customer);
  const [when, setWhen] = useState<"period_end" | "now">(periodEnd === null ? "now" : "period_end");
  const who = customer.name ?? customerId;
  const name = plan?.name ?? "the plan";
  const params = { path: { ...scope, customerId } };
  const cancel = useWrite("post", PLAN_PATH, {
    onSuccess: async ({ customer: { plan: after } }) => {
      const end = after?.endsAt ?? null;
      notify(`Canceled ${name} for ${who}`, end === null ? undefined : `Ends ${formatTime(end, clock)}`);
      onClose();
      await refresh("customers");
    },
  });
  const end = useWrite("delete", PLAN_PATH, {
    onSuccess: async ({ outcome, customer: after }) => {
      const balance = `Balance ${formatBalances(customer.balances, nameOf)} → ${formatBalances(after.balances, nameOf)}`;
      if (outcome === "ended") notify(`Ended ${name} for ${who}`, balance);
      else notify("Nothing changed", "The customer had no assigned plan");
      onClose();
      await refresh("customers");
    },
  });
  const dialog = {
    title: `Cancel ${name} for ${who}`,
    tone: "danger" as const,
    closeName: "Close",
    onClose,
    children: (
      <>
        {periodEnd !== null && (
          <Choices
            label="When"
            name="when"
            chosen={when}
            onChange={({ target }) => setWhen(target.value === "now" ? "now" : "period_end")}
            choices={[
              {
                value: "period_end",
                name: "At the end of the current period",
                note: formatTime(periodEnd, clock),
              },
              { value: "now", name: "Now", note: "Immediately, before the period ends." },
            ]}
          />
        )}
        <Consequences customer={customer} endsAt={when === "now" ? null : periodEnd} />
      </>
    ),
  };
  return when === "now" || plan === null ? (
    <WriteDialog {...dialog} write={end} request={{ params }} action={`Cancel ${name} now`} />
  ) : (
    <WriteDialog
      {...dialog}
      write={cancel}
      request={{ params, body: { plan: plan.key, endsAt: "period_end", shorten: true } }}
      action={`Cancel ${name}`}
    />
  );
}

/** The end of the current period; null if the plan ends by then anyway. */
function findPeriodEnd({ plan }: Customer): string | null {
  if (plan === null || plan.periodEndsAt === null) return null;
  return plan.endsAt !== null && plan.endsAt <= plan.periodEndsAt ? null : plan.periodEndsAt;
}

/** Explains the effects of the cancellation. `endsAt` is null if the plan ends now. */
function Consequences({
  customer: { plan, nextPlan },
  endsAt,
}: {
  customer: Customer;
  endsAt: string | null;
}) {
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  const fallback = plans.find(({ isDefault }) => isDefault);
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      <li>
        {endsAt === null
          ? "Unused plan credits are removed now. Top-ups are kept."
          : `The customer keeps ${plan?.name} and its credits until ${formatDay(endsAt, clock)}. Top-ups are kept after that.`}
      </li>
      <li>
        {fallback === undefined
          ? "There is no default plan. Checks, charges and new holds will be denied until you assign a plan."
          : `The default plan ${fallback.name} will apply.`}
      </li>
      {nextPlan !== null && <li>{describeCanceled(nextPlan, (at) => formatDay(at, clock))}</li>}
    </ul>
  );
}

function describeCanceled(
  { name, startsAt }: NonNullable<Customer["nextPlan"]>,
  format: (at: string) => string,
): string {
  return `The change to ${name} on ${format(startsAt)} will be canceled.`;
}

/** Cancels the next scheduled change: another plan, or the end of the current plan. */
export function KeepPlanDialog({ customer: opened, onClose }: DialogProps) {
  const [customer] = useState(opened);
  const { customerId, plan, nextPlan } = customer;
  const scope = useScope();
  const clock = useClock();
  const format = (at: string): string => formatDay(at, clock);
  const who = customer.name ?? customerId;
  const params = { path: { ...scope, customerId } };
  const keeps = nameOfKept(customer);
  const options = {
    onSuccess: async ({ outcome }: { outcome: "changed" | "unchanged" }) => {
      if (outcome === "unchanged") notify("Nothing changed", "The change was already canceled");
      else notify(keeps === null ? `Canceled the scheduled change for ${who}` : `${who} keeps ${keeps}`);
      onClose();
      await refresh("customers");
    },
  };
  const drop = useWrite("delete", `${PLAN_PATH}/next`, options);
  const extend = useWrite("post", PLAN_PATH, options);
  // Canceling a scheduled plan keeps the end date of the current plan. The user can remove that date later.
  const isDrop = plan === null || nextPlan !== null;
  const end = isDrop ? (plan?.endsAt ?? null) : null;
  const dialog = {
    title: keeps === null ? `Cancel the scheduled change for ${who}` : `Keep ${keeps} for ${who}`,
    action: keeps === null ? "Cancel scheduled change" : `Keep ${keeps}`,
    closeName: "Close",
    onClose,
    children: (
      <ul className="flex list-disc flex-col gap-1 pl-5">
        {plan !== null && (
          <li>
            {plan.name} {end === null ? "continues with no end date." : `continues until ${format(end)}.`}
          </li>
        )}
        {nextPlan !== null && <li>{describeCanceled(nextPlan, format)}</li>}
        <li>Credits and period do not change.</li>
      </ul>
    ),
  };
  return isDrop ? (
    <WriteDialog {...dialog} write={drop} request={{ params }} />
  ) : (
    <WriteDialog {...dialog} write={extend} request={{ params, body: { plan: plan.key, endsAt: null } }} />
  );
}
