import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { listEventKeys as listNames, listSeenEventKeys } from "../../store/cell/event-keys.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { sortByKey } from "../catalog/content.ts";
import { nullable, timeField } from "../fields.ts";

export const EventKey = Type.Object({
  key: Type.String({ examples: ["tokens.used"] }),
  name: nullable(Type.String({ description: "Null: nobody has named it yet.", examples: ["Tokens used"] })),
  unit: nullable(Type.String({ examples: ["token"] })),
  seen: nullable(
    Type.Object(
      {
        events: Type.Integer({ examples: [1204] }),
        lastSeenAt: timeField,
      },
      { description: "Among the newest events. Null: in none of them." },
    ),
  ),
});

export type EventKey = Static<typeof EventKey>;

export const SEEN = { eventsMax: 20_000, rowsMax: 100_000 } as const;

/** Those that people named, and those that came lately, back to `start`. */
export function listEventKeys(
  cell: Pool,
  environmentId: EnvironmentId,
  start: Instant | null,
): Promise<EventKey[]> {
  const range = { ...SEEN, since: start ?? brandAs<Instant>(0) };
  return single(cell, async (tx) => {
    const keys = new Map<string, EventKey>();
    for (const { key, name, unit } of await listNames(tx, environmentId)) {
      keys.set(key, { key, name, unit, seen: null });
    }
    for (const { key, events, lastSeenAt } of await listSeenEventKeys(tx, environmentId, range)) {
      const { name, unit } = keys.get(key) ?? { name: null, unit: null };
      keys.set(key, { key, name, unit, seen: { events, lastSeenAt: formatTimestamp(lastSeenAt) } });
    }
    return sortByKey([...keys.values()]);
  });
}
