import { chargeOf, type FeatureKey, isFeatureKey, limitOf } from "../../catalog.ts";
import type { CallOutcome, CheckRequest, ConsumeRequest } from "../../history/call.ts";
import { keyHashOf } from "../keys/key-hash.ts";
import type { StoredEntry } from "../stored.ts";
import { chargeId } from "../subjects.ts";
import type { Part } from "../wallets/parts.ts";
import { uuidOf } from "./events.ts";
import type { Purse } from "./purse.ts";
import { addKey } from "./run.ts";

export function consumeOf(
  purse: Purse,
  marker: string,
  feature: FeatureKey,
  quantity: number,
): ConsumeRequest {
  const { customerId } = purse;
  return { endpoint: "consume", key: `key-${marker}`, marker, customerId, feature, quantity };
}

/** What the request costs, from the purse, oldest grant first. Returns the answer. */
export function charge(purse: Purse, request: ConsumeRequest): CallOutcome {
  const { feature, quantity, key, marker } = request;
  let left = priceOf(feature, quantity);
  const parts = purse.grants.flatMap(({ number, remaining }): Part[] => {
    const taken = Math.min(left, remaining);
    left -= taken;
    return taken === 0 ? [] : [{ grant: number, amount: -taken }];
  });
  const pinned = { planVersion: purse.versionId, assignment: purse.plan?.number ?? null };
  const what = { feature, quantity, marker, keyHash: keyHashOf(key), ...pinned };
  const entry = purse.move("consume", parts, what);
  if (maxOf(purse, feature) !== null) purse.count(feature, quantity);
  addKey(purse.run, key, "consume", chargeId(entry));
  return answerOf(purse, request, { reason: null, consumeId: consumeIdOf(entry) });
}

export function deny(purse: Purse, request: ConsumeRequest, reason: string): CallOutcome {
  const { run, customer, sequence, balance, plan, versionId: planVersion } = purse;
  const { feature, quantity, key, marker } = request;
  const id = uuidOf(1_000 + run.denials.length);
  const limitQuantity = maxOf(purse, feature);
  const limitUsed = limitQuantity === null ? null : (plan?.counters.get(feature)?.[0] ?? 0);
  run.denials.push({
    ...{ id, customer, sequence, reason, feature, quantity, balance, limitQuantity, limitUsed, planVersion },
    ...{ creditsRequired: priceOf(feature, quantity), keyHash: keyHashOf(key), marker },
  });
  addKey(run, key, "consume", id);
  return answerOf(purse, request, { reason, consumeId: null });
}

/** As the answer stands now, before any charge. */
export function okCheck(purse: Purse, request: CheckRequest): CallOutcome {
  return answerOf(purse, request, { reason: null });
}

/** To the grants that were burned, the last first. */
export function reverse(purse: Purse, entry: StoredEntry, quantity: number | null): void {
  const { feature, sequence: reverses, planVersion, assignment, parts } = entry;
  const whole = entry.quantity ?? 0;
  const back = quantity ?? whole;
  const credits = priceOf(feature, whole) - priceOf(feature, whole - back);
  let left = credits;
  const returned = parts
    .split(",")
    .toReversed()
    .flatMap((part): Part[] => {
      const [grant, amount] = part.split(":").map(Number);
      const given = Math.min(left, -(amount ?? 0));
      left -= given;
      return given > 0 ? [{ grant: grant ?? 0, amount: given }] : [];
    });
  purse.move("reverse", returned, { feature, quantity: back, planVersion, assignment, reverses });
  if (purse.plan?.counters.has(feature ?? "")) purse.count(feature ?? "", -back);
  purse.run.manageCalls.push({
    request: { operation: "reverseConsume", consumeId: consumeIdOf(entry), quantity },
    startMs: 0,
    endMs: 5,
    outcome: { kind: "reversed", credits, quantity: back },
  });
}

function answerOf(
  purse: Purse,
  { customerId, feature, quantity, endpoint }: ConsumeRequest | CheckRequest,
  { reason, consumeId }: { reason: string | null; consumeId?: string | null },
): CallOutcome {
  const { balance, plan } = purse;
  const max = maxOf(purse, feature);
  const used = plan?.counters.get(feature)?.[0] ?? 0;
  const limit = max === null ? null : { quantity: max, used, remaining: max - used, resetsAt: null };
  const creditsRequired = priceOf(feature, quantity);
  const asked = { customerId, feature, quantity, creditsRequired, balance, resetsAt: null, limit };
  const creditsCharged = reason === null ? creditsRequired : 0;
  const done = endpoint === "consume" ? { consumeId, creditsCharged } : {};
  const body = JSON.stringify({ allowed: reason === null, reason, ...asked, ...done });
  return { kind: "ok", body, isReplay: false };
}

function priceOf(feature: string | null, quantity: number): number {
  if (!isFeatureKey(feature)) throw new Error(`${feature} has no price`);
  return chargeOf(feature, quantity);
}

function maxOf({ plan }: Purse, feature: string): number | null {
  return plan === null || !isFeatureKey(feature) ? null : limitOf(plan.plan, feature);
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

export function consumeIdOf(entry: StoredEntry): string {
  let value = BigInt(`0x${chargeId(entry).replaceAll("-", "")}`);
  let text = "";
  for (; text.length < 26; value /= 32n) text = (DIGITS[Number(value % 32n)] ?? "") + text;
  return `con_${text}`;
}
