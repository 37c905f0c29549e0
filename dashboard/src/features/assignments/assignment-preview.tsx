import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Body, Scope } from "../../api/answer.ts";
import type { PlanSummary } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { formatCount } from "../../format/numbers.ts";
import { describePlan } from "../../format/plan-standing.ts";
import { formatAllowance, formatExtras, joinList } from "../../format/terms.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Time } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";
import { usePlanTerms } from "../customers/use-plan-terms.ts";
import { useLossNames } from "./bulk-losses.tsx";
import { BULK_PATH, isWithoutEffect } from "./bulk-plan.tsx";
import { lossesOf } from "./plan-losses.ts";

export type AssignmentBody = Body<"assignPlan">;
type AssignmentEffect = { before: Customer; after: Customer };

type Change = {
  customer: Customer;
  plan: PlanSummary;
  /** When the plan starts. If null, it starts now. */
  startsAt: string | null;
  /** When the plan ends. If undefined, the current end date is kept. */
  endsAt: string | null | undefined;
};

/** Shows what the assignment changes, and what the customer loses. */
export function AssignmentPreview(change: Change) {
  return (
    <>
      {change.startsAt === null ? <EffectNow {...change} /> : <EffectLater {...change} />}
      <Losses {...change} />
    </>
  );
}

function EffectNow(change: Change) {
  const { customer, plan, endsAt } = change;
  const preview = useQuery(effectQuery(useScope(), customer.customerId, { plan: plan.key, endsAt }));
  const { data: effect, isFetching: isOld } = preview;
  if (preview.error !== null) return <ProblemCallout error={preview.error} />;
  return (
    <output
      aria-label="Preview"
      aria-busy={isOld}
      className={classNames(
        "block min-h-24 rounded-md bg-sunken px-3 py-2.5 transition-opacity",
        isOld && "opacity-50",
      )}
    >
      {effect && isWithoutEffect(effect) ? (
        <Nothing customer={customer} plan={plan} />
      ) : (
        <Effect {...change} effect={effect} />
      )}
    </output>
  );
}

function Nothing({ customer, plan }: { customer: Customer; plan: PlanSummary }) {
  return (
    <>
      <p className="font-semibold">Nothing will change</p>
      <p className="text-muted">
        {customer.name ?? customer.customerId} already has {plan.name}. Assigning it again adds no credits.
      </p>
    </>
  );
}

function Effect({
  customer: { plan: before, nextPlan },
  plan,
  effect,
}: Change & {
  /** Undefined while loading; null if the customer no longer exists. */
  effect: AssignmentEffect | null | undefined;
}) {
  const nameOf = usePoolNames();
  const isSame = before?.key === plan.key;
  const end = effect?.after.plan?.endsAt ?? null;
  return (
    <>
      <FromTo before={before} plan={plan} />
      {effect === undefined && <p className="text-muted">Calculating the balance…</p>}
      {effect === null && <p>No balance preview, because this customer no longer exists.</p>}
      {effect?.after.balances.map(({ pool, balance }) => (
        <p key={pool} className="tabular-nums">
          {effect.after.balances.length === 1 ? "Balance" : `Balance (${nameOf(pool)})`}{" "}
          {formatCount(effect.before.balances.find((line) => line.pool === pool)?.balance ?? 0)}{" "}
          <span className="text-muted">→</span> {formatCount(balance)}
        </p>
      ))}
      {end !== null && (
        <p>
          Ends <Time at={end} />
        </p>
      )}
      <p className="text-muted">
        {isSame
          ? "Credits and period do not change."
          : `${included(plan, nameOf)} The plan starts now.${before === null ? "" : ` Unused credits from ${before.name} expire. Top-ups are kept.`}`}
        {nextPlan !== null && ` The scheduled change to ${nextPlan.name} will be canceled.`}
      </p>
    </>
  );
}

function EffectLater({ customer: { plan: before, nextPlan }, plan, startsAt, endsAt }: Change) {
  const nameOf = usePoolNames();
  return (
    <output aria-label="Preview" className="block min-h-24 rounded-md bg-sunken px-3 py-2.5">
      <FromTo before={before} plan={plan} />
      <p>
        Starts <Time at={startsAt} />
        {endsAt != null && (
          <>
            , ends <Time at={endsAt} />
          </>
        )}
      </p>
      <p className="text-muted">
        {included(plan, nameOf)}
        {before !== null && ` Unused credits from ${before.name} expire then. Top-ups are kept.`}
        {nextPlan !== null && ` Replaces the scheduled change to ${nextPlan.name}.`}
      </p>
    </output>
  );
}

function FromTo({ before, plan }: { before: Customer["plan"]; plan: PlanSummary }) {
  return (
    <p className="text-section font-semibold">
      {describePlan(before)} <span className="text-muted">→</span> {plan.name}
    </p>
  );
}

function included({ latest }: PlanSummary, nameOf: (pool: string) => string): string {
  const allowances = latest?.allowances ?? [];
  const poolOf = (pool: string): string | null => (allowances.length === 1 ? null : nameOf(pool));
  if (allowances.length === 0) return "The plan includes no credits.";
  const terms = allowances.map((allowance) => formatAllowance(allowance, poolOf(allowance.pool)));
  return allowances.some((allowance) => formatExtras(allowance).length > 0)
    ? terms.map((term) => `Includes ${term}.`).join(" ")
    : `Includes ${joinList(terms)}.`;
}

/** Warns if the customer's current plan has better terms than the new plan. */
function Losses({ customer, plan }: Change) {
  const { plan: current, overrides } = customer;
  const before = usePlanTerms(customer);
  const names = useLossNames();
  if (current === null || current.key === plan.key || before === null || plan.latest === null) return null;
  const losses = lossesOf({ before, after: plan.latest }, overrides, names);
  if (losses.length === 0) return null;
  return (
    <Callout tone="warn" title={`${plan.name} has less favorable terms than ${current.name}`}>
      {losses.map((loss) => (
        <p key={loss}>{loss}</p>
      ))}
    </Callout>
  );
}

/** Previews the assignment with the API call for bulk previews. Null if the customer no longer exists. */
function effectQuery(
  { projectId, environment }: Scope,
  customerId: string,
  { plan, endsAt }: { plan: string; endsAt: string | null | undefined },
) {
  const scope = { projectId, environment };
  return queryOptions({
    queryKey: ["preview", BULK_PATH, scope, customerId, plan, endsAt],
    queryFn: async ({ signal }): Promise<AssignmentEffect | null> => {
      const { sample } = await answerOf(
        api.POST(`${BULK_PATH}/preview`, {
          params: { path: scope },
          // Allow an earlier end date in the preview. The form asks before applying it.
          body: {
            filter: { customerIds: [customerId] },
            plan,
            shorten: true,
            ...(endsAt === undefined ? {} : { endsAt }),
          },
          signal,
        }),
      );
      return sample[0] ?? null;
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
    meta: { showsOwnErrors: true },
  });
}
