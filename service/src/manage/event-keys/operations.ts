import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { listEventKeys as listNames, listSeenEventKeys } from "../../store/cell/event-keys.ts";
import { type EventKeyContent, sortByKey } from "../catalog/content.ts";
import { eventKeyField, unitField } from "../catalog/schema.ts";
import { beginWriting, writeEventKey } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { nameField, nullable, strictObject, timeField } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { pageByKey, pageOf, pageQuery } from "../page.ts";
import type { ManageParts } from "../parts.ts";

const NOUN = "Event keys";
const count = (value: number): string => value.toLocaleString("en");

/** Lists and names event keys. An event key does not have to be defined. Its name is used only for display. */
export function eventKeyOperations({ control, cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/event-keys`,
      access: { role: "viewer", in: "environment" },
      id: "listEventKeys",
      noun: NOUN,
      summary: "List event keys",
      description:
        "Returns named event keys and recently used event keys, sorted by key. A key is recently used if one of its events meets all " +
        "of these conditions:\n\n" +
        `- The event is among the newest ${count(SEEN.eventsMax)} events in the environment.\n` +
        `- The event is among the newest ${count(SEEN.rowsMax)} events in the database.\n` +
        "- The event was recorded in the last 35 days.",
      params: Type.Object(environmentParams),
      query: strictObject({
        ...pageQuery,
        named: Type.Optional(
          Type.Enum(["true", "false"], {
            description: "`true`: only named keys. `false`: only keys without a name.",
          }),
        ),
      }),
      answer: Type.Object({ ...pageOf(EventKey).properties, ...windowAnswer }),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const { named } = call.query;
        const start = await historyStartOf(control, call);
        const keys = await listEventKeys(cellOf(scopeOf(call)), environmentId, start);
        const wanted = keys.filter(
          ({ name }) => named === undefined || (name !== null) === (named === "true"),
        );
        return { ...pageByKey(wanted, call.query), ...describeWindow(start) };
      },
    }),
    operation({
      method: "PUT",
      path: `${ENVIRONMENT_PATH}/event-keys/:key`,
      access: { role: "admin", in: "environment" },
      id: "putEventKey",
      noun: NOUN,
      summary: "Name an event key",
      description:
        "Sets the display name and unit of an event key, before or after its first event. Safe to repeat.",
      params: Type.Object({ ...environmentParams, key: eventKeyField }),
      body: strictObject({
        name: Type.String({ ...nameField, examples: ["Generated tokens"] }),
        unit: Type.Optional(unitField),
      }),
      answer: Type.Object({
        key: Type.String({ examples: ["tokens.used"] }),
        name: Type.String({ examples: ["Tokens used"] }),
        unit: nullable(Type.String({ examples: ["token"] })),
      }),
      codes: ["catalog_too_large"],
      handle: async (call) => {
        const { name, unit = null } = call.body;
        const named = { key: call.params.key, name, unit };
        await nameEventKey(cellOf(scopeOf(call)), contextOf(call), named);
        return named;
      },
    }),
  ];
}

/** Sets the display name and unit. Does not change events. */
function nameEventKey(cell: Pool, context: Context, input: EventKeyContent): Promise<void> {
  const { environmentId } = context;
  const { key, name, unit } = input;
  return editCatalog(cell, context, async (tx, catalog, at) => {
    const before = (await listNames(tx, environmentId)).find((other) => other.key === key) ?? null;
    const writing = beginWriting(tx, environmentId, catalog, at);
    return { outcome: undefined, audits: await writeEventKey(writing, before, { key, name, unit }) };
  });
}

export const EventKey = Type.Object({
  key: Type.String({ examples: ["tokens.used"] }),
  name: nullable(Type.String({ description: "Null if the key has no name.", examples: ["Tokens used"] })),
  unit: nullable(Type.String({ examples: ["token"] })),
  seen: nullable(
    Type.Object(
      {
        events: Type.Integer({ examples: [1204] }),
        lastSeenAt: timeField,
      },
      {
        description:
          "How often the key was used in the newest events, and when it was last used. Null if the key was not used recently.",
      },
    ),
  ),
});

type EventKey = Static<typeof EventKey>;

const SEEN = { eventsMax: 20_000, rowsMax: 100_000 } as const;

/** Lists named event keys and recently used event keys. Ignores events before `start`. */
function listEventKeys(cell: Pool, environmentId: EnvironmentId, start: Instant | null): Promise<EventKey[]> {
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
