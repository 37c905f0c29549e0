import {
  derive,
  describeRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type EventKey, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

const KEY = describeRow({
  key: derive(text("k.key"), (key) => brandAs<EventKey>(key)),
  name: text("k.name"),
  unit: orNull(text("k.unit")),
});

/** The display name of an event key. */
export type EventKeyName = RowOf<typeof KEY>;

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
  select ${KEY.list}
  from cell.event_keys as k
  where k.environment_id = $1
  order by k.key`,
);

export function listEventKeys(tx: Tx, environmentId: EnvironmentId): Promise<EventKeyName[]> {
  return listRows(tx, LIST, [environmentId], KEY);
}

const SEEN = describeRow({
  key: derive(text("e.event"), (key) => brandAs<EventKey>(key)),
  events: integer("count(*)"),
  lastSeenAt: instant("max(e.recorded_at)"),
});

export type SeenEventKey = RowOf<typeof SEEN>;

// Scans the newest events, because an index on the key would slow down every insert. The two limits bound the scan, even if many
// environments share the table.
const LIST_SEEN = statement(
  "event_keys.list_seen",
  `
  select ${SEEN.list}
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
  /** Only events that occurred at or after this time. */
  readonly since: Instant;
};

/** Lists the keys of the environment's newest `eventsMax` events. Scans only the newest `rowsMax` events of all environments. */
export function listSeenEventKeys(
  tx: Tx,
  environmentId: EnvironmentId,
  { rowsMax, eventsMax, since }: SeenRange,
): Promise<SeenEventKey[]> {
  // Unnamed, so that PostgreSQL makes a new query plan as the number of events grows.
  const parameters = [environmentId, rowsMax, eventsMax, formatTimestamp(since)];
  return listRows(tx, { ...LIST_SEEN, name: "" }, parameters, SEEN);
}
