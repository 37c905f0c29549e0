import { type Call, isAcknowledged, isUnknown } from "../history/call.ts";
import type { StoredEvent } from "./stored.ts";
import type { Violation } from "./violation.ts";

/** I3, request by request: acknowledged ≤ stored ≤ acknowledged + unknown, and nothing that was never sent. */
export function checkCounts(calls: readonly Call[], events: readonly StoredEvent[]): Violation[] {
  const violations: Violation[] = [];
  const eventsOf = Map.groupBy(events, ({ marker }) => marker);
  const callsOf = Map.groupBy(calls, ({ request }) => request.marker);
  for (const [marker, sent] of callsOf) {
    const { min, max } = boundsOf(sent);
    const count = eventsOf.get(marker)?.length ?? 0;
    if (count >= min && count <= max) continue;
    const text = `${marker} is stored ${count} times, where ${min} to ${max} are right: ${explain(sent)}`;
    violations.push({ invariant: "I3", text });
  }
  for (const [marker, rows] of eventsOf) {
    if (marker !== null && callsOf.has(marker)) continue;
    const text = `${marker ?? "no marker"} was never sent, and is stored as ${rows.map(({ id }) => id).join(", ")}`;
    violations.push({ invariant: "I3", text });
  }
  return violations;
}

/** Over the whole history: how many events must be stored, and how many more may be. */
export function countBounds(calls: readonly Call[]): { acknowledged: number; unknown: number } {
  let acknowledged = 0;
  let unknown = 0;
  for (const sent of Map.groupBy(calls, ({ request }) => request.marker).values()) {
    const { min, max } = boundsOf(sent);
    acknowledged += min;
    unknown += max - min;
  }
  return { acknowledged, unknown };
}

/** For all calls of one request. Under a key any number of them makes one event; without, each makes its own. */
function boundsOf(sent: readonly Call[]): { min: number; max: number } {
  const min = sent.filter(isAcknowledged).length;
  const max = min + sent.filter(isUnknown).length;
  const isKeyed = sent.some(({ request }) => request.key !== null);
  return isKeyed ? { min: Math.min(min, 1), max: Math.min(max, 1) } : { min, max };
}

function explain(sent: readonly Call[]): string {
  return sent
    .map(
      ({ client, startMs, outcome }) => `${client} at ${startMs.toFixed(1)} ms: ${JSON.stringify(outcome)}`,
    )
    .join("; ");
}
