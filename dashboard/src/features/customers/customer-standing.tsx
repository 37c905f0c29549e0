import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { describeHeld } from "../../format/holds.ts";
import { formatCount } from "../../format/numbers.ts";
import { describeOverage } from "../../format/overage.ts";
import { useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Figure } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { PlanStanding } from "../assignments/plan-standing.tsx";
import { findRenewal } from "../credits/grants.ts";
import { knownGrantsQuery } from "../ledger/queries.ts";
import { type Customer, planVersionQuery } from "./queries.ts";

type ActivePlan = NonNullable<Customer["plan"]>;

/** Balances, overage and plan as figures with their renewals. */
export function CustomerStanding({ customer }: { customer: Customer }) {
  const { customerId, balances, plan, nextPlan } = customer;
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const ofPool = (key: string): string =>
    balances.length === 1 ? "" : ` (${pools.find((pool) => pool.key === key)?.name ?? key})`;
  return (
    <div className="grid grid-cols-2 gap-2 sm:grid-cols-[repeat(auto-fit,minmax(14rem,1fr))] sm:gap-4">
      {balances.length === 0 && <Figure name="Balance" value="0" note="No credits yet" />}
      {balances.map(({ pool, balance, held, overage }) => (
        <Fragment key={pool}>
          <Figure
            name={`Balance${ofPool(pool)}`}
            value={formatCount(balance)}
            note={
              <>
                {plan === null ? (
                  "Cannot be spent without a plan"
                ) : (
                  <BalanceNote
                    plan={plan}
                    nextStart={nextPlan?.startsAt ?? null}
                    customerId={customerId}
                    pool={pool}
                    isEmpty={balance === 0}
                  />
                )}
                {held > 0 && <HeldNote held={held} customerId={customerId} />}
              </>
            }
          />
          {overage !== null && (
            <Figure
              name={`Overage used${ofPool(pool)}`}
              value={formatCount(overage.used)}
              note={
                <>
                  {describeOverage(overage)}
                  <div>To be invoiced. Not part of the balance.</div>
                </>
              }
            />
          )}
        </Fragment>
      ))}
      <Figure name="Plan" value={plan?.name ?? "None"} note={<PlanNote customer={customer} />} />
    </div>
  );
}

function BalanceNote({
  plan,
  nextStart,
  customerId,
  pool,
  isEmpty,
}: {
  plan: ActivePlan;
  nextStart: string | null;
  customerId: string;
  pool: string;
  isEmpty: boolean;
}) {
  const scope = useScope();
  const { data: version } = useQuery(planVersionQuery(scope, plan));
  const { data: known } = useQuery(knownGrantsQuery({ ...scope, customerId }));
  const allowance = version?.allowances.find((each) => each.pool === pool);
  const renewal = allowance === undefined ? null : findRenewal(allowance, known?.grants ?? []);
  // A plan that ends before the renewal does not renew.
  const ends = [plan.endsAt, nextStart].filter((end) => end !== null);
  const now = isEmpty ? "No credits left." : "Available now.";
  if (renewal === null || ends.some((end) => end <= renewal)) return now;
  return (
    <>
      {now} Renews <Time at={renewal} as="day" />.
    </>
  );
}

function HeldNote({ held, customerId }: { held: number; customerId: string }) {
  const scope = useScope();
  return (
    <div>
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/holds"
        params={{ ...scope, customerId }}
      >
        {describeHeld(held)}
      </TextLink>
    </div>
  );
}

function PlanNote({ customer }: { customer: Customer }) {
  const { overrides } = customer;
  return (
    <>
      <PlanStanding customer={customer} />
      {overrides !== null && (
        <div>
          Has overrides
          {overrides.endsAt !== null && (
            <>
              {" until "}
              <Time at={overrides.endsAt} as="day" />
            </>
          )}
        </div>
      )}
    </>
  );
}
