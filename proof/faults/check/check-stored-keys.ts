import type { Call } from "../history/call.ts";
import { findEventUuid } from "./event-uuid.ts";
import type { Stored, StoredEvent, StoredKey } from "./stored.ts";
import type { Violation } from "./violation.ts";

/** A key and its event are stored together or not at all, point to each other, and are what was answered. */
export function checkStoredKeys(calls: readonly Call[], { events, keys }: Stored): Violation[] {
  const keyOf = new Map(calls.map(({ request }) => [request.marker, request.key]));
  const rowOf = new Map(keys.map((row) => [row.key, row]));
  const eventOf = new Map(events.map((event) => [event.id, event]));
  return [
    ...checkRows(keys, { eventOf, keyOf }),
    ...checkEvents(events, { rowOf, keyOf }),
    ...checkAnswers(calls, rowOf),
    ...checkConflicts(calls, { rowOf, eventOf }),
  ];
}

/** Of a marker; null for a request without a key, undefined for one that was never sent. */
type KeyOf = ReadonlyMap<string, string | null>;
type RowOf = ReadonlyMap<string, StoredKey>;
type EventOf = ReadonlyMap<string, StoredEvent>;

function checkRows(keys: readonly StoredKey[], by: { eventOf: EventOf; keyOf: KeyOf }): Violation[] {
  const sent = new Set(by.keyOf.values());
  return keys.flatMap(({ key, subjectId }): Violation[] => {
    if (!sent.has(key)) return [{ invariant: "I3", text: `${key} is stored, and was never sent` }];
    const event = by.eventOf.get(subjectId);
    if (event === undefined)
      return [{ invariant: "I6", text: `${key} points to ${subjectId}, which is not there` }];
    if (by.keyOf.get(event.marker ?? "") === key) return [];
    return [{ invariant: "I6", text: `${key} points to ${subjectId}, the event of ${event.marker}` }];
  });
}

function checkEvents(events: readonly StoredEvent[], by: { rowOf: RowOf; keyOf: KeyOf }): Violation[] {
  return events.flatMap(({ id, marker }): Violation[] => {
    const key = by.keyOf.get(marker ?? "") ?? null;
    if (key === null || by.rowOf.get(key)?.subjectId === id) return [];
    return [{ invariant: "I6", text: `${marker} is stored as ${id}, and its ${key} does not point to it` }];
  });
}

function checkAnswers(calls: readonly Call[], rowOf: RowOf): Violation[] {
  return calls.flatMap(({ request: { key, marker }, outcome }): Violation[] => {
    if (key === null || outcome.kind !== "ok") return [];
    const row = rowOf.get(key);
    if (row === undefined)
      return [{ invariant: "I6", text: `${marker} was acknowledged, ${key} is not stored` }];
    if (row.subjectId === findEventUuid(outcome.eventId)) return [];
    return [{ invariant: "I2", text: `${key} answered ${outcome.body}, and stands for ${row.subjectId}` }];
  });
}

/** A 409 says that the key belongs to another payload: then that one must be there. */
function checkConflicts(calls: readonly Call[], by: { rowOf: RowOf; eventOf: EventOf }): Violation[] {
  return calls.flatMap(({ request: { key, marker }, outcome }): Violation[] => {
    if (key === null || outcome.kind !== "fail" || outcome.status !== 409) return [];
    const row = by.rowOf.get(key);
    const owner = row === undefined ? undefined : by.eventOf.get(row.subjectId);
    if (owner !== undefined && owner.marker !== marker) return [];
    return [{ invariant: "I2", text: `${marker} got 409, and ${key} belongs to nothing else` }];
  });
}
