import type { FeatureKey } from "../../catalog.ts";
import type { CallOutcome, CheckRequest, ConsumeRequest } from "../../history/call.ts";
import { keyHashOf } from "../keys/key-hash.ts";
import type { StoredEntry } from "../stored.ts";
import { chargeId } from "../subjects.ts";
import { uuidOf } from "./events.ts";
import type { Decided, ReferenceWallet } from "./reference-wallet.ts";
import { addKey } from "./run.ts";

export function consumeOf(
  { customerId }: ReferenceWallet,
  marker: string,
  feature: FeatureKey,
  quantity: number,
): ConsumeRequest {
  return { endpoint: "consume", key: `key-${marker}`, marker, customerId, feature, quantity };
}

/** Decides a request and stores what follows from it: an entry or a denial, and the key. Returns the answer. */
export function consume(wallet: ReferenceWallet, request: ConsumeRequest): CallOutcome {
  const { run, customer } = wallet;
  const { feature, quantity, key, marker } = request;
  const keyHash = keyHashOf(key);
  const decided = wallet.decide(feature, quantity, { marker, keyHash });
  const { reason, before, planVersion, creditsRequired } = decided;
  const entry = run.ledger.at(-1);
  if (decided.allowed && entry !== undefined) {
    addKey(run, key, "consume", chargeId(entry));
    return answerOf(request, decided, { consumeId: consumeIdOf(entry), creditsCharged: creditsRequired });
  }
  const id = uuidOf(1_000 + run.denials.length);
  const { sequence, nowMs: recordedAtMs } = wallet;
  run.denials.push({
    ...{
      id,
      customer,
      recordedAtMs,
      sequence,
      feature,
      quantity,
      creditsRequired,
      planVersion,
      keyHash,
      marker,
    },
    reason: reason ?? "",
    balance: before?.balance ?? 0,
    limitQuantity: before?.limit?.quantity ?? null,
    limitUsed: before?.limit?.used ?? null,
  });
  addKey(run, key, "consume", id);
  return answerOf(request, decided, { consumeId: null, creditsCharged: 0 });
}

/** As the answer stands now, before any charge. */
export function okCheck(wallet: ReferenceWallet, request: CheckRequest): CallOutcome {
  const decided = wallet.check(request.feature, request.quantity);
  return answerOf(request, { ...decided, after: decided.before }, {});
}

/** To the grants that were burned, the last first. */
export function reverse(wallet: ReferenceWallet, entry: StoredEntry, quantity: number | null): void {
  const outcome = wallet.reverse(entry, quantity);
  if (outcome.kind !== "reversed") throw new Error(`the core answered with ${outcome.kind}`);
  wallet.run.manageCalls.push({
    request: { operation: "reverseConsume", consumeId: consumeIdOf(entry), quantity },
    startMs: 0,
    endMs: 5,
    outcome,
  });
}

function answerOf(
  { customerId, feature, quantity }: ConsumeRequest | CheckRequest,
  { allowed, reason, creditsRequired, after }: Decided,
  done: { readonly consumeId?: string | null; readonly creditsCharged?: number },
): CallOutcome {
  const asked = { allowed, reason, customerId, feature, quantity, creditsRequired };
  return { kind: "ok", body: JSON.stringify({ ...asked, ...after, ...done }), isReplay: false };
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

export function consumeIdOf(entry: StoredEntry): string {
  let value = BigInt(`0x${chargeId(entry).replaceAll("-", "")}`);
  let text = "";
  for (; text.length < 26; value /= 32n) text = (DIGITS[Number(value % 32n)] ?? "") + text;
  return `con_${text}`;
}
