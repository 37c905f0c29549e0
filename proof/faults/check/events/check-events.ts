import type { Call } from "../../history/call.ts";
import { findEventId } from "../answers.ts";
import { findUuid } from "../public-uuid.ts";
import type { StoredEvent } from "../stored.ts";
import type { Violation } from "../violation.ts";

/** I6: the event each 200 names is there exactly once, is the one that was sent, and belongs to no feature. */
export function checkEvents(calls: readonly Call[], events: readonly StoredEvent[]): Violation[] {
  const eventsOf = Map.groupBy(events, ({ id }) => id);
  const acknowledged = calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    if (request.endpoint !== "events" || outcome.kind !== "ok") return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I6", text: `${request.marker}, acknowledged as ${outcome.body}: ${text}` },
    ];
    const id = findUuid("evt", findEventId(call));
    if (id === null) return complain("the answer names no event");
    const rows = eventsOf.get(id) ?? [];
    if (rows.length !== 1) return complain(`event ${id} is stored ${rows.length} times`);
    const marker = rows[0]?.marker ?? null;
    return marker === request.marker ? [] : complain(`event ${id} is that of ${marker}`);
  });
  const featured = events.flatMap(({ id, featureId }): Violation[] =>
    featureId === null ? [] : [{ invariant: "I6", text: `event ${id} has feature ${featureId}` }],
  );
  return [...acknowledged, ...featured];
}
