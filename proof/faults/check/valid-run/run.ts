import { publicId } from "../../../../service/src/primitives/public-id.ts";
import { type FeatureContent, POOL } from "../../../harness/project.ts";
import { FEATURES, isFeatureKey, PLANS, POOLS } from "../../catalog.ts";
import type { Call, CallOutcome, ClientRequest, EventRequest, ManageCall } from "../../history.ts";
import type { Stored, StoredEntry, StoredEvent } from "../stored.ts";
import { keyHashOf } from "../subjects.ts";

/** A history and its rows, which tests may change. */
export type Run = { calls: Call[]; manageCalls: ManageCall[] } & {
  -readonly [Table in keyof Stored]: Stored[Table][number][];
};

const named = (keys: readonly string[]) => keys.map((key, index) => ({ id: index + 1, key }));
const plans = named(Object.keys(PLANS));
const pools = named(POOLS);

function poolOf(feature: string): number {
  const content: FeatureContent | undefined = isFeatureKey(feature) ? FEATURES[feature] : undefined;
  return pools.find(({ key }) => key === (content?.pool ?? POOL))?.id ?? 0;
}

export function emptyRun(): Run {
  return {
    calls: [],
    manageCalls: [],
    events: [],
    keys: [],
    customers: [],
    wallets: [],
    grants: [],
    ledger: [],
    denials: [],
    holdChanges: [],
    assignments: [],
    pools,
    features: named(Object.keys(FEATURES)).map((feature) => ({ ...feature, pool: poolOf(feature.key) })),
    plans,
    // A version's ID is ten times the ID of its plan.
    planVersions: plans.map(({ id }) => ({ id: id * 10, plan: id })),
  };
}

const ENDPOINT_NUMBER = { consume: 2, events: 3, holds: 4, reverse: 5 };

export function addKey(
  run: Run,
  key: string,
  endpoint: keyof typeof ENDPOINT_NUMBER,
  subjectId: string,
): void {
  run.keys.push({ key, keyHash: keyHashOf(key), endpoint: ENDPOINT_NUMBER[endpoint], subjectId });
}

export function callOf(request: ClientRequest, outcome: CallOutcome, startMs = 0): Call {
  const { marker: fingerprint } = request;
  const times = { startMs, endMs: startMs + 5 };
  return { client: "client-0", service: "a", request, fingerprint, ...times, outcome };
}

export const reused = (conflict: "payload" | "endpoint"): CallOutcome => ({
  kind: "fail",
  status: 409,
  code: "idempotency_key_reused",
  conflict,
});

export const UNAVAILABLE: CallOutcome = { kind: "info", status: 503, reason: "unavailable" };
export const OUTCOME_UNKNOWN: CallOutcome = { kind: "info", status: 503, reason: "outcome_unknown" };
export const RESET: CallOutcome = { kind: "info", status: null, reason: "ECONNRESET" };

/** The same response, marked as a replay. */
export function again(outcome: CallOutcome): CallOutcome {
  return outcome.kind === "ok" ? { ...outcome, isReplay: true } : outcome;
}

export const uuidOf = (number: number): string =>
  `0198c1f2-7c5a-7abc-8ef0-${String(number).padStart(12, "0")}`;

/** The `evt_…`, `con_…` or `hld_…` form of a UUID. */
export function publicIdOf(prefix: "evt" | "con" | "hld", uuid: string): string {
  return publicId(prefix, Buffer.from(uuid.replaceAll("-", ""), "hex"));
}

export function eventOf(marker: string, key: string | null): EventRequest {
  const payload = { customerId: "customer_1", event: "tokens.generated", quantity: 7 };
  return { endpoint: "events", key, marker, ...payload, isTooOld: false };
}

export function okEvent(number: number): CallOutcome {
  const eventId = publicIdOf("evt", uuidOf(number));
  return { kind: "ok", body: `{"accepted":true,"eventId":"${eventId}"}`, isReplay: false };
}

export function eventRow(number: number, marker: string): StoredEvent {
  const { customerId, event, quantity } = eventOf(marker, null);
  return { id: uuidOf(number), marker, customerId, event, quantity, featureId: null };
}

/** Each call starts after the previous call has ended. */
export function addCall(run: Run, request: ClientRequest, outcome: CallOutcome): void {
  run.calls.push(callOf(request, outcome, run.calls.length * 10));
}

export function addReplay(run: Run): void {
  const { request, outcome } = run.calls.at(-1) ?? {};
  if (request !== undefined && outcome !== undefined) addCall(run, request, again(outcome));
}

/** Every kind of event with every outcome that is valid for it. */
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

export function entryOf(run: Run, marker: string): StoredEntry {
  const entry = run.ledger.find((other) => other.marker === marker);
  if (entry === undefined) throw new Error(`${marker} is not in the ledger`);
  return entry;
}
