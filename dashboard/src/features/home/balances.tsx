import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Item } from "../../api/answer.ts";
import { describeForecast, FORECAST_ASSUMES, urgencyOf } from "../../format/forecast.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { useClock } from "../../ui/time.tsx";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { BALANCE_BELOW, lowBalancesQuery, runningOutQuery, WITHIN_DAYS } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/");

type CustomerForecast = Item<"listForecasts">;

/** Customers who use up their credits within a week, soonest first. */
export function RunningOut() {
  const scope = useScope();
  const query = useQuery(runningOutQuery(scope));
  return (
    <Part
      title="Running out this week"
      query={query}
      actions={
        <TextLink
          to="/projects/$projectId/$environment/running-out"
          params={scope}
          search={{ days: WITHIN_DAYS }}
        >
          View all
        </TextLink>
      }
    >
      {({ customers, hasMore }) =>
        customers.length === 0 ? (
          <Nothing>No customers will run out of credits in the next {WITHIN_DAYS} days.</Nothing>
        ) : (
          <>
            <Lines>
              {customers.map((customer) => (
                <LineOf key={customer.customerId} end={<Outlook pool={customer.pools[0]} />}>
                  <CustomerLink customerId={customer.customerId} name={customer.customerName} />
                  <span className="text-caption text-muted">{customer.plan?.name ?? "No plan"}</span>
                </LineOf>
              ))}
            </Lines>
            <p className="border-t border-line px-4 py-2 text-caption text-muted">
              {hasMore && `The first ${customers.length} are shown. `}
              {FORECAST_ASSUMES}
            </p>
          </>
        )
      }
    </Part>
  );
}

const TONES = { bad: "font-medium text-bad", warn: "text-warn" } as const;

/** When the credits of a pool are used up. */
export function Outlook({ pool }: { pool: CustomerForecast["pools"][number] | undefined }) {
  const clock = useClock();
  if (pool === undefined) return null;
  const urgency = urgencyOf(pool);
  return (
    <span className={urgency === null ? "text-muted" : TONES[urgency]}>{describeForecast(pool, clock)}</span>
  );
}

/** Customers with a low balance. The threshold is kept in the URL. */
export function LowBalances() {
  const scope = useScope();
  const { balanceBelow = BALANCE_BELOW } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({ ...lowBalancesQuery(scope, balanceBelow), placeholderData: (before) => before });
  function choose(text: string): void {
    void navigate({
      search: /^\d{1,15}$/.test(text) ? { balanceBelow: Number(text) } : {},
      replace: true,
      resetScroll: false,
    });
  }
  return (
    <Part
      title="Low balances"
      query={query}
      actions={
        <div className="flex items-center gap-2 text-muted">
          <span aria-hidden>below</span>
          <span className="w-24">
            <FilterField
              label="Balance below"
              type="number"
              min={0}
              value={String(balanceBelow)}
              onFilter={choose}
            />
          </span>
        </div>
      }
    >
      {({ customers, hasMore }) =>
        customers.length === 0 ? (
          <Nothing>No customers with fewer than {countOf(balanceBelow, "credit")} found.</Nothing>
        ) : (
          <>
            <Lines>
              {customers.map((customer) => (
                <Line key={customer.customerId} customer={customer} balanceBelow={balanceBelow} />
              ))}
            </Lines>
            {hasMore && (
              <p className="border-t border-line px-4 py-2 text-caption">
                <TextLink
                  to="/projects/$projectId/$environment/customers"
                  params={scope}
                  search={{ balanceBelow, sort: "balance_asc" }}
                >
                  All customers with a balance below {formatCount(balanceBelow)}
                </TextLink>
              </p>
            )}
          </>
        )
      }
    </Part>
  );
}

function Line({ customer, balanceBelow }: { customer: CustomerForecast; balanceBelow: number }) {
  const { customerId, customerName, plan, pools } = customer;
  const nameOfPool = usePoolNames();
  const low = pools.filter(({ balance }) => balance < balanceBelow);
  return (
    <LineOf
      end={
        <span className="flex flex-col items-end">
          {low.map((pool) => (
            <span key={pool.pool} className="flex flex-wrap items-baseline justify-end gap-x-2">
              <span className="text-caption">
                <Outlook pool={pool} />
              </span>
              <span className={pool.balance === 0 ? "font-medium text-bad" : undefined}>
                {formatCount(pool.balance)}
                {pools.length > 1 && <span className="text-muted"> {nameOfPool(pool.pool)}</span>}
              </span>
            </span>
          ))}
        </span>
      }
    >
      <CustomerLink customerId={customerId} name={customerName} />
      <span className="text-caption text-muted">{plan?.name ?? "No plan"}</span>
    </LineOf>
  );
}
