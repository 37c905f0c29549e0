import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Item } from "../../api/answer.ts";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { ButtonLink, TextLink } from "../../ui/button.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Time } from "../../ui/time.tsx";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { BALANCE_BELOW, lowBalancesQuery, summaryQuery, unnamedEventsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/");

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
          <Nothing>No customer has fewer than {countOf(balanceBelow, "credit")}.</Nothing>
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
                  search={{ balanceBelow }}
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

function Line({ customer, balanceBelow }: { customer: Item<"listCustomers">; balanceBelow: number }) {
  const { customerId, name, plan, balances } = customer;
  const { data: pools = [] } = useQuery(poolsQuery(useScope()));
  const nameOfPool = (key: string): string => pools.find((pool) => pool.key === key)?.name ?? key;
  const low = balances.filter(({ balance }) => balance < balanceBelow);
  return (
    <LineOf
      end={low.map(({ pool, balance }) => (
        <span key={pool} className={balance === 0 ? "font-medium text-bad" : undefined}>
          {formatCount(balance)}
          {balances.length > 1 && <span className="text-muted"> {nameOfPool(pool)}</span>}
        </span>
      ))}
    >
      <CustomerLink customerId={customerId} name={name} />
      <span className="text-caption text-muted">{plan?.name ?? "No plan"}</span>
    </LineOf>
  );
}

const SHOWN_MAX = 5;

/** Keys used in requests but missing from the catalog: a typo, or something to create. */
export function UnknownKeys() {
  const scope = useScope();
  const mayDefine = useMayActAs("admin");
  const query = useQueries({
    queries: [summaryQuery(scope), unnamedEventsQuery(scope)],
    combine: ([summary, events]) => ({
      data:
        summary.data === undefined || events.data === undefined
          ? undefined
          : { features: summary.data.unknownFeatures, events: events.data },
      error: summary.error ?? events.error,
      isFetching: summary.isFetching || events.isFetching,
      dataUpdatedAt: Math.min(summary.dataUpdatedAt, events.dataUpdatedAt),
      refetch: () => Promise.all([summary.refetch(), events.refetch()]),
    }),
  });
  return (
    <Part title="Unknown features and unnamed events" query={query}>
      {({ features, events }) =>
        features.length + events.length === 0 ? (
          <Nothing>All requested features exist, and all event keys have names.</Nothing>
        ) : (
          <>
            <Lines>
              {features.slice(0, SHOWN_MAX).map(({ key, requests, lastSeenAt }) => (
                <SeenKey
                  key={`feature ${key}`}
                  name={key}
                  what={`Unknown feature, ${countOf(requests, "request")}`}
                  lastSeenAt={lastSeenAt}
                >
                  {mayDefine && (
                    <ButtonLink
                      to="/projects/$projectId/$environment/features"
                      params={scope}
                      search={{ define: key }}
                      aria-label={`Create ${key}`}
                    >
                      Create
                    </ButtonLink>
                  )}
                </SeenKey>
              ))}
              {events.slice(0, SHOWN_MAX).map(({ key, seen }) => (
                <SeenKey
                  key={`event ${key}`}
                  name={key}
                  what={`Unnamed event key, ${countOf(seen?.events ?? 0, "event")}`}
                  lastSeenAt={seen?.lastSeenAt ?? null}
                >
                  {mayDefine && (
                    <ButtonLink
                      to="/projects/$projectId/$environment/features/event-keys"
                      params={scope}
                      search={{ search: key }}
                      aria-label={`Add name for ${key}`}
                    >
                      Add name
                    </ButtonLink>
                  )}
                </SeenKey>
              ))}
            </Lines>
            {features.length > SHOWN_MAX && (
              <p className="border-t border-line px-4 py-2 text-caption text-muted">
                And {countOf(features.length - SHOWN_MAX, "more unknown feature")}.
              </p>
            )}
            {events.length > SHOWN_MAX && (
              <p className="border-t border-line px-4 py-2 text-caption">
                <TextLink
                  to="/projects/$projectId/$environment/features/event-keys"
                  params={scope}
                  search={{ show: "unnamed" }}
                >
                  All unnamed event keys
                </TextLink>
              </p>
            )}
          </>
        )
      }
    </Part>
  );
}

function SeenKey({
  name,
  what,
  lastSeenAt,
  children,
}: {
  name: string;
  what: string;
  lastSeenAt: string | null;
  children: ReactNode;
}) {
  return (
    <LineOf end={children}>
      <span className="font-mono">{name}</span>
      <span className="text-caption text-muted">
        {what}
        {lastSeenAt !== null && (
          <>
            , last seen <Time at={lastSeenAt} as="ago" />
          </>
        )}
      </span>
    </LineOf>
  );
}
