import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type EventKey, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

/** What people call the events of a key. */
export type EventKeyName = {
  readonly key: EventKey;
  readonly name: string;
  readonly unit: string | null;
};

const UPSERT = statement(
  "event_keys.upsert",
  `
  insert into cell.event_keys (environment_id, key, name, unit)
  values ($1, $2, $3, $4)
  on conflict on constraint event_keys_pkey do update
  set
    name = excluded.name,
    unit = excluded.unit`,
);

export function upsertEventKey(tx: Tx, environmentId: EnvironmentId, named: EventKeyName): Promise<Rows> {
  return tx.run(UPSERT, [environmentId, named.key, named.name, named.unit]);
}

const LIST = statement(
  "event_keys.list",
  `
  select key, name, unit
  from cell.event_keys
  where environment_id = $1
  order by key`,
);

export async function listEventKeys(tx: Tx, environmentId: EnvironmentId): Promise<EventKeyName[]> {
  const { rows } = await tx.run(LIST, [environmentId]);
  return rows.map(([key, name, unit]) => ({
    key: brandAs<EventKey>(readText(key)),
    name: readText(name),
    unit: readNullable(unit, readText),
  }));
}

export type SeenEventKey = {
  readonly key: EventKey;
  readonly events: number;
  readonly lastSeenAt: Instant;
};

// Events are found by time alone: an index on their key would cost every event, for a list that people look at now and
// then. So the newest are read backwards, and both counts bound the work however many environments share the table.
const LIST_SEEN = statement(
  "event_keys.list_seen",
  `
  select
    e.event,
    count(*),
    (extract(epoch from max(e.recorded_at)) * 1000)::bigint
  from (
    select n.event, n.recorded_at
    from (
      select environment_id, event, recorded_at, occurred_at
      from cell.events
      where recorded_at >= now() - interval '35 days'
      order by recorded_at desc
      limit $2
    ) as n
    where n.environment_id = $1
      and n.occurred_at >= $4::timestamptz
    limit $3
  ) as e
  group by e.event`,
);

export type SeenRange = {
  readonly rowsMax: number;
  readonly eventsMax: number;
  /** By the events' own time. */
  readonly since: Instant;
};

/** The keys among the newest `eventsMax` events of the environment, of which `rowsMax` of all environments are looked at. */
export async function listSeenEventKeys(
  tx: Tx,
  environmentId: EnvironmentId,
  { rowsMax, eventsMax, since }: SeenRange,
): Promise<SeenEventKey[]> {
  // Planned anew each time, for the events there are.
  const { rows } = await tx.run({ ...LIST_SEEN, name: "" }, [
    environmentId,
    rowsMax,
    eventsMax,
    formatTimestamp(since),
  ]);
  return rows.map(([key, events, lastSeenAt]) => ({
    key: brandAs<EventKey>(readText(key)),
    events: readInteger(events),
    lastSeenAt: readInstant(lastSeenAt),
  }));
}
