import type { Call } from "../history/call.ts";
import { findEventUuid } from "./event-uuid.ts";
import type { StoredEvent } from "./stored.ts";
import type { Violation } from "./violation.ts";

/** I6: the event each 200 names is there exactly once, is the one that was sent, and belongs to no feature. */
export function checkAcknowledged(calls: readonly Call[], events: readonly StoredEvent[]): Violation[] {
  const violations: Violation[] = [];
  const eventsOf = Map.groupBy(events, ({ id }) => id);
  for (const { request, outcome } of calls) {
    if (outcome.kind !== "ok") continue;
    const complain = (text: string): void => {
      violations.push({
        invariant: "I6",
        text: `${request.marker}, acknowledged as ${outcome.body}: ${text}`,
      });
    };
    const id = findEventUuid(outcome.eventId);
    if (id === null) {
      complain("the answer names no event");
      continue;
    }
    const rows = eventsOf.get(id) ?? [];
    if (rows.length !== 1) complain(`event ${id} is stored ${rows.length} times`);
    for (const row of rows) {
      const differences = listDifferences(request, row);
      if (differences.length > 0) complain(`event ${id} has ${differences.join(", ")}`);
    }
  }
  for (const { id, featureId } of events) {
    if (featureId !== null)
      violations.push({ invariant: "I6", text: `event ${id} has feature ${featureId}` });
  }
  return violations;
}

function listDifferences(request: Call["request"], row: StoredEvent): string[] {
  return (["marker", "customerId", "event", "quantity"] as const)
    .filter((field) => request[field] !== row[field])
    .map((field) => `${field} ${row[field]} instead of ${request[field]}`);
}
