import { readInstant, readInteger, readText } from "../../postgres/column.ts";
import { type Parameter, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { type LoggedEndpoint, lowestLogId } from "./request-log.ts";
import { readEndpoint } from "./request-log-list.ts";

export type HourlyCount = {
  readonly hour: Instant;
  readonly endpoint: LoggedEndpoint;
  readonly outcome: string;
  readonly requests: number;
};

const LIST_COUNTS = statement(
  "request_counts.list",
  `
  select (extract(epoch from c.hour) * 1000)::bigint, c.endpoint, c.outcome, c.requests
  from cell.request_counts as c
  where c.environment_id = $1
    and c.hour >= $2::timestamptz
  order by c.hour, c.endpoint, c.outcome`,
);

export async function listRequestCounts(
  tx: Tx,
  environmentId: EnvironmentId,
  since: Instant,
): Promise<HourlyCount[]> {
  const { rows } = await tx.run(LIST_COUNTS, [environmentId, formatTimestamp(since)]);
  return rows.map(([hour, endpoint, outcome, requests]) => ({
    hour: readInstant(hour),
    endpoint: readEndpoint(endpoint),
    outcome: readText(outcome),
    requests: readInteger(requests),
  }));
}

/** Rows that are looked at for one answer, the newest first. */
const SCANNED_MAX = 20_000;
const KEYS_MAX = 50;

export type SeenKey = { readonly key: string; readonly requests: number; readonly lastSeenAt: Instant };

// Only what is still missing: one that was defined meanwhile needs nobody's attention.
const LIST_UNKNOWN_FEATURES = statement(
  "request_log.list_unknown_features",
  `
  select s.subject, count(*), (extract(epoch from max(s.recorded_at)) * 1000)::bigint
  from (
    select l.subject, l.recorded_at
    from cell.request_log as l
    where l.environment_id = $1
      and l.code = 'feature_not_found'
      and l.id >= $2::uuid
    order by l.id desc
    limit ${SCANNED_MAX}
  ) as s
  where s.subject is not null
    and not exists (
      select
      from cell.features as f
      where f.environment_id = $1
        and f.key = s.subject
    )
  group by s.subject
  order by count(*) desc, s.subject
  limit ${KEYS_MAX}`,
);

const LIST_UNNAMED_EVENTS = statement(
  "request_log.list_unnamed_events",
  `
  select s.subject, count(*), (extract(epoch from max(s.recorded_at)) * 1000)::bigint
  from (
    select l.subject, l.recorded_at, l.endpoint, l.code, l.occurred_at
    from cell.request_log as l
    where l.environment_id = $1
      and l.id >= $2::uuid
    order by l.id desc
    limit ${SCANNED_MAX}
  ) as s
  where s.endpoint = 'events'
    and s.code is null
    and ($3::timestamptz is null or s.occurred_at is null or s.occurred_at >= $3)
    and s.subject is not null
    and not exists (
      select
      from cell.event_keys as k
      where k.environment_id = $1
        and k.key = s.subject
    )
  group by s.subject
  order by count(*) desc, s.subject
  limit ${KEYS_MAX}`,
);

/** Feature keys that were asked for and are not defined, the most frequent first. */
export function listUnknownFeatures(
  tx: Tx,
  environmentId: EnvironmentId,
  since: Instant,
): Promise<SeenKey[]> {
  return listSeen(tx, LIST_UNKNOWN_FEATURES, [environmentId, lowestIdOf(since)]);
}

/** Event keys that were recorded and that nobody gave a name, the most frequent first; no event of a time before `start`. */
export function listUnnamedEvents(
  tx: Tx,
  environmentId: EnvironmentId,
  { since, start }: { readonly since: Instant; readonly start: Instant | null },
): Promise<SeenKey[]> {
  const from = start === null ? null : formatTimestamp(start);
  return listSeen(tx, LIST_UNNAMED_EVENTS, [environmentId, lowestIdOf(since), from]);
}

function lowestIdOf(since: Instant): string {
  return lowestLogId(since).toString("hex");
}

async function listSeen(
  tx: Tx,
  list: typeof LIST_UNKNOWN_FEATURES,
  parameters: readonly Parameter[],
): Promise<SeenKey[]> {
  const { rows } = await tx.run(list, parameters);
  return rows.map(([key, requests, lastSeenAt]) => ({
    key: readText(key),
    requests: readInteger(requests),
    lastSeenAt: readInstant(lastSeenAt),
  }));
}
