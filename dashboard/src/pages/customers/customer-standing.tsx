import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Figure } from "../../ui/figure.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";
import { findRenewal } from "./find-renewal.ts";
import { knownGrantsQuery } from "./ledger-queries.ts";
import { planVersionQuery } from "./plan-version-query.ts";
import type { Customer } from "./queries.ts";

type ActivePlan = NonNullable<Customer["plan"]>;

/** What somebody opens this page for: how much is left, until when, and on which plan. */
export function CustomerStanding({ customer: { customerId, balances, plan } }: { customer: Customer }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  const nameOf = (key: string): string => pools.find((pool) => pool.key === key)?.name ?? key;
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(14rem,1fr))] gap-4">
      {balances.length === 0 && <Figure name="Balance" value="0" note="No credits yet" />}
      {balances.map(({ pool, balance }) => (
        <Figure
          key={pool}
          name={balances.length === 1 ? "Balance" : `Balance, ${nameOf(pool)}`}
          value={formatCount(balance)}
          note={
            plan === null ? (
              "Waiting: without a plan nothing can be spent"
            ) : (
              <BalanceNote plan={plan} customerId={customerId} pool={pool} />
            )
          }
        />
      ))}
      <Figure name="Plan" value={plan?.name ?? "None"} note={<PlanNote plan={plan} />} />
    </div>
  );
}

function BalanceNote({ plan, customerId, pool }: { plan: ActivePlan; customerId: string; pool: string }) {
  const place = usePlace();
  const { data: version } = useQuery(planVersionQuery(place, plan));
  const { data: known } = useQuery(knownGrantsQuery({ ...place, customerId }));
  const allowance = version?.allowances.find((each) => each.pool === pool);
  const renewal = allowance === undefined ? null : findRenewal(allowance, known?.grants ?? []);
  // Nothing begins anew after the plan's end.
  if (renewal === null || (plan.endsAt !== null && plan.endsAt <= renewal)) return "Credits to spend now";
  return (
    <>
      Credits to spend now; the plan’s begin anew <Time at={renewal} as="day" />
    </>
  );
}

function PlanNote({ plan }: { plan: Customer["plan"] }) {
  if (plan === null) return "Every request is denied";
  return (
    <>
      Version {plan.version}, {plan.isDefault ? "as the default, " : ""}since{" "}
      <Time at={plan.anchor} as="day" />
      {plan.endsAt !== null && (
        <>
          , ends <Time at={plan.endsAt} />
        </>
      )}
    </>
  );
}
