import { publicId } from "../../../../service/src/primitives/public-id.ts";
import type { CallOutcome, EventRequest } from "../../history/call.ts";
import type { StoredEvent } from "../stored.ts";
import { again, callOf, OUTCOME_UNKNOWN, RESET, reused, UNAVAILABLE } from "./calls.ts";
import { addKey, type Run } from "./run.ts";

export const uuidOf = (number: number): string =>
  `0198c1f2-7c5a-7abc-8ef0-${String(number).padStart(12, "0")}`;

export function eventOf(marker: string, key: string | null): EventRequest {
  const payload = { customerId: "customer_1", event: "tokens.generated", quantity: 7 };
  return { endpoint: "events", key, marker, ...payload, isTooOld: false };
}

export function okEvent(number: number): CallOutcome {
  const eventId = publicId("evt", Buffer.from(uuidOf(number).replaceAll("-", ""), "hex"));
  return { kind: "ok", body: `{"accepted":true,"eventId":"${eventId}"}`, isReplay: false };
}

export function eventRow(number: number, marker: string): StoredEvent {
  const { customerId, event, quantity } = eventOf(marker, null);
  return { id: uuidOf(number), marker, customerId, event, quantity, featureId: null };
}

/** Every kind of event there is, with every outcome that is valid for it. */
export function addEvents(run: Run): void {
  const keyed = eventOf("keyed", "key-1");
  const late = eventOf("late", "key-3");
  run.calls.push(
    callOf(keyed, okEvent(1)),
    callOf(keyed, again(okEvent(1))),
    callOf(eventOf("rival", "key-1"), reused("payload")),
    callOf(eventOf("plain", null), okEvent(2)),
    callOf(eventOf("plain-refused", null), UNAVAILABLE),
    callOf(eventOf("plain-unknown-stored", null), RESET),
    callOf(eventOf("plain-unknown-lost", null), OUTCOME_UNKNOWN),
    callOf(eventOf("lost", "key-2"), OUTCOME_UNKNOWN),
    callOf(late, RESET),
    callOf(late, again(okEvent(4))),
    callOf(
      { ...eventOf("too-old", "key-4"), isTooOld: true },
      { kind: "fail", status: 422, code: "timestamp_out_of_range", conflict: null },
    ),
  );
  run.events.push(
    eventRow(1, "keyed"),
    eventRow(2, "plain"),
    eventRow(3, "plain-unknown-stored"),
    eventRow(4, "late"),
  );
  addKey(run, "key-1", "events", uuidOf(1));
  addKey(run, "key-3", "events", uuidOf(4));
}
