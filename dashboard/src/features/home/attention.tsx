import { useQueries, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { countOf } from "../../format/numbers.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { ButtonLink, TextLink } from "../../ui/button.tsx";
import { Time } from "../../ui/time.tsx";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { repeatedChargesQuery, summaryQuery, unnamedEventsQuery } from "./queries.ts";

const SHOWN_MAX = 5;

/** Similar charges within a minute, which may be one charge sent twice. The ledger marks these charges. */
export function RepeatedCharges() {
  const scope = useScope();
  const query = useQuery(repeatedChargesQuery(scope));
  return (
    <Part title="Possible double charges" query={query}>
      {({ items: repeated, examinedSince }) =>
        repeated.length === 0 ? (
          <Nothing>
            No similar charges within a minute in requests logged since <Time at={examinedSince} />.
          </Nothing>
        ) : (
          <>
            <Lines>
              {repeated.slice(0, SHOWN_MAX).map((charge) => (
                <LineOf
                  key={`${charge.customerId} ${charge.sequence}`}
                  end={
                    <TextLink
                      to="/projects/$projectId/$environment/customers/$customerId/ledger"
                      params={{ ...scope, customerId: charge.customerId }}
                      hash={`entry-${charge.sequence}`}
                      aria-label={`Open ledger of ${charge.customerName ?? charge.customerId}`}
                    >
                      Open ledger
                    </TextLink>
                  }
                >
                  <CustomerLink customerId={charge.customerId} name={charge.customerName} />
                  <span className="text-caption text-muted">
                    {charge.charges} × {charge.featureName}, {countOf(charge.credits, "credit")} in repeat
                    charges, <Time at={charge.recordedAt} as="ago" />
                  </span>
                </LineOf>
              ))}
            </Lines>
            <p className="border-t border-line px-4 py-2 text-caption text-muted">
              {repeated.length > SHOWN_MAX && `And ${repeated.length - SHOWN_MAX} more. `}
              Some requests from before <Time at={examinedSince} /> were not checked.
            </p>
          </>
        )
      }
    </Part>
  );
}

/** Keys used in requests but missing from the catalog. Each key is either a typo or needs to be created. */
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
