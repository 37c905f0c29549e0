import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Figure } from "../../ui/figure.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";
import { poolChoicesQuery } from "./catalog-queries.ts";
import type { Customer } from "./queries.ts";

/** What somebody opens this page for: how much is left, and on which plan. */
export function CustomerStanding({ customer: { balances, plan } }: { customer: Customer }) {
  const { data: pools } = useSuspenseQuery(poolChoicesQuery(usePlace()));
  const nameOf = (key: string): string => pools.find((pool) => pool.key === key)?.name ?? key;
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(14rem,1fr))] gap-4">
      {balances.length === 0 && <Figure name="Balance" value="0" note="No credits yet" />}
      {balances.map(({ pool, balance }) => (
        <Figure
          key={pool}
          name={balances.length === 1 ? "Balance" : `Balance, ${nameOf(pool)}`}
          value={formatCount(balance)}
          note={plan === null ? "Waiting: without a plan nothing can be spent" : "Credits to spend now"}
        />
      ))}
      <Figure name="Plan" value={plan?.name ?? "None"} note={<PlanNote plan={plan} />} />
    </div>
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
