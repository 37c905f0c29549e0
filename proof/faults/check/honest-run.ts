import { publicId } from "../../../service/src/words/public-id.ts";
import type { Call, CallOutcome, EventRequest } from "../history/call.ts";
import type { Stored, StoredEvent, StoredKey } from "./stored.ts";

/** A run in which all went as promised, for tests to plant one bug in. */
export type Run = { calls: Call[]; events: StoredEvent[]; keys: StoredKey[] };

export const uuidOf = (number: number): string =>
  `0198c1f2-7c5a-7abc-def0-${String(number).padStart(12, "0")}`;

export function requestOf(marker: string, key: string | null): EventRequest {
  return { key, marker, customerId: "customer_1", event: "tokens.generated", quantity: 7, isTooOld: false };
}

export function callOf(request: EventRequest, outcome: CallOutcome, startMs = 0): Call {
  return { client: "client-0", request, fingerprint: request.marker, startMs, endMs: startMs + 5, outcome };
}

export function okOf(number: number, isReplay = false): CallOutcome {
  const eventId = publicId("evt", Buffer.from(uuidOf(number).replaceAll("-", ""), "hex"));
  return { kind: "ok", body: `{"accepted":true,"eventId":"${eventId}"}`, eventId, isReplay };
}

export const REUSED: CallOutcome = { kind: "fail", status: 409, code: "idempotency_key_reused" };
export const UNAVAILABLE: CallOutcome = { kind: "info", status: 503, reason: "unavailable" };
export const OUTCOME_UNKNOWN: CallOutcome = { kind: "info", status: 503, reason: "outcome_unknown" };
export const RESET: CallOutcome = { kind: "info", status: null, reason: "ECONNRESET" };

export function rowOf(number: number, marker: string): StoredEvent {
  return {
    id: uuidOf(number),
    marker,
    customerId: "customer_1",
    event: "tokens.generated",
    quantity: 7,
    featureId: null,
  };
}

/** Every kind of request there is, with every kind of outcome it may honestly have. */
export function honestRun(): Run {
  const keyed = requestOf("keyed", "key-1");
  const rival = requestOf("rival", "key-1");
  const lost = requestOf("lost", "key-2");
  const late = requestOf("late", "key-3");
  const tooOld = { ...requestOf("too-old", "key-4"), isTooOld: true };
  return {
    calls: [
      callOf(keyed, okOf(1)),
      callOf(keyed, okOf(1, true)),
      callOf(rival, REUSED),
      callOf(requestOf("plain", null), okOf(2)),
      callOf(requestOf("plain-refused", null), UNAVAILABLE),
      callOf(requestOf("plain-unknown-stored", null), RESET),
      callOf(requestOf("plain-unknown-lost", null), OUTCOME_UNKNOWN),
      callOf(lost, OUTCOME_UNKNOWN),
      callOf(late, RESET),
      callOf(late, okOf(4, true)),
      callOf(tooOld, { kind: "fail", status: 422, code: "timestamp_out_of_range" }),
    ],
    events: [rowOf(1, "keyed"), rowOf(2, "plain"), rowOf(3, "plain-unknown-stored"), rowOf(4, "late")],
    keys: [
      { key: "key-1", subjectId: uuidOf(1) },
      { key: "key-3", subjectId: uuidOf(4) },
    ],
  };
}

export function storedOf({ events, keys }: Run): Stored {
  return { events, keys };
}
