import { useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { countOf } from "../../words/numbers.ts";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { summaryQuery, unnamedEventsQuery } from "./queries.ts";

const SHOWN_MAX = 5;

/** What callers speak of and the catalog does not: a typing error, or something to define. */
export function UnknownKeys() {
  const place = usePlace();
  const mayDefine = useMayActAs("admin");
  const query = useQueries({
    queries: [summaryQuery(place), unnamedEventsQuery(place)],
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
    <Part title="Unknown keys" query={query}>
      {({ features, events }) =>
        features.length + events.length === 0 ? (
          <Nothing>Every feature that was asked for is defined, and every event has a name.</Nothing>
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
                      params={place}
                      search={{ define: key }}
                      aria-label={`Define ${key}`}
                    >
                      Define
                    </ButtonLink>
                  )}
                </SeenKey>
              ))}
              {events.slice(0, SHOWN_MAX).map(({ key, seen }) => (
                <SeenKey
                  key={`event ${key}`}
                  name={key}
                  what={`No name yet, ${countOf(seen?.events ?? 0, "event")}`}
                  lastSeenAt={seen?.lastSeenAt ?? null}
                >
                  {mayDefine && (
                    <ButtonLink
                      to="/projects/$projectId/$environment/features/event-keys"
                      params={place}
                      search={{ search: key }}
                      aria-label={`Name ${key}`}
                    >
                      Name
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
                  params={place}
                  search={{ show: "unnamed" }}
                >
                  All event keys without a name
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
            , last <Time at={lastSeenAt} as="ago" />
          </>
        )}
      </span>
    </LineOf>
  );
}
