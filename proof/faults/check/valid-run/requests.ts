import {
  type CallOutcome,
  type CheckRequest,
  type ConsumeRequest,
  claimedKey,
  type DecidedRequest,
  type HoldRequest,
  hasItems,
  itemsOf,
  type ReverseRequest,
} from "../../history.ts";
import { packItems, type StoredEntry, type StoredHoldChange } from "../stored.ts";
import { chargeId, holdUuid, keyHashOf, requestIdOf } from "../subjects.ts";
import type { Decided, ReferenceWallet } from "./reference-wallet.ts";
import { addKey, publicIdOf, uuidOf } from "./run.ts";

/** Decides a request and stores the result: its entries, its hold or a denial, and the key. Returns the response. */
export function consume(wallet: ReferenceWallet, request: ConsumeRequest | HoldRequest): CallOutcome {
  const { run, customer } = wallet;
  const { key, marker } = request;
  const asked = itemsOf(request);
  const keyHash = keyHashOf(key);
  const decided = wallet.decide(request);
  const { allowed, reason, deniedItem, planVersion } = decided;
  if (allowed && request.endpoint === "holds") return storeOpening(wallet, request, decided);
  const entry = run.ledger.at(-asked.length);
  if (allowed && entry !== undefined) {
    addKey(run, key, "consume", chargeId(entry));
    return answerOf(wallet, request, decided, { consumeId: consumeIdOf(entry) });
  }
  const denied = asked[deniedItem ?? 0];
  const before = decided.items[deniedItem ?? 0]?.before;
  if (deniedItem === null || denied === undefined || !before) throw new Error("a denial has a denied item");
  const pool = wallet.poolOf(denied.feature);
  const needed = decided.items.filter(
    (_, index) => index <= deniedItem && wallet.poolOf(asked[index]?.feature ?? "") === pool,
  );
  const id = uuidOf(1_000 + run.denials.length);
  const { sequence, nowMs: recordedAtMs } = wallet;
  run.denials.push({
    ...{ id, customer, recordedAtMs, sequence, ...denied, keyHash, marker, planVersion },
    ...(hasItems(request) ? { item: deniedItem, items: packItems(asked) } : { item: null, items: null }),
    creditsRequired: needed.reduce((sum, { creditsRequired }) => sum + creditsRequired, 0),
    reason: reason ?? "",
    balance: before.balance,
    limitQuantity: before.limit?.quantity ?? null,
    limitUsed: before.limit?.used ?? null,
  });
  addKey(run, key, request.endpoint, id);
  const nothing = request.endpoint === "holds" ? { holdId: null, expiresAt: null } : { consumeId: null };
  return answerOf(wallet, request, decided, nothing);
}

function storeOpening(wallet: ReferenceWallet, request: HoldRequest, decided: Decided): CallOutcome {
  const { run } = wallet;
  const { key, marker } = request;
  const row = run.holdChanges.pop();
  if (row === undefined) throw new Error("an allowed request opened a hold");
  run.holdChanges.push({ ...row, marker, keyHash: keyHashOf(key) });
  addKey(run, key, "holds", holdUuid(row));
  const expiresAt = new Date(row.expiresAtMs).toISOString();
  return answerOf(wallet, request, decided, { holdId: holdIdOf(row), expiresAt });
}

/** The response to a check, with the balances before the charge. */
export function okCheck(wallet: ReferenceWallet, request: CheckRequest): CallOutcome {
  const decided = wallet.check(itemsOf(request));
  const items = decided.items.map((item) => ({ ...item, after: item.before }));
  return answerOf(wallet, request, { ...decided, items }, {});
}

/** Reverses a charge. Without an item, it reverses all charges of the request. */
export function reverse(
  wallet: ReferenceWallet,
  entry: StoredEntry,
  quantity: number | null,
  item: number | null = null,
): void {
  const outcome = wallet.reverse(entry, quantity, entry.items !== null && item === null);
  const consumeId = consumeIdOf({ ...entry, sequence: entry.sequence - (entry.item ?? 0) });
  wallet.run.manageCalls.push({
    request: { operation: "reverseConsume", consumeId, item, quantity },
    startMs: 0,
    endMs: 5,
    outcome,
  });
}

/** Reverses charges with an API key. The entry is the first charge of the request, or the only one to reverse. */
export function reverseByKey(
  wallet: ReferenceWallet,
  entry: StoredEntry,
  request: ReverseRequest,
): CallOutcome {
  const { run } = wallet;
  const { key, marker, quantity, consumeId, customerId } = request;
  const keyHash = key === null ? null : keyHashOf(key);
  const isWhole = quantity === null && entry.items !== null;
  const reversed = wallet.reverse(entry, quantity, isWhole, { marker, keyHash });
  addKey(run, claimedKey(request) ?? "", "reverse", requestIdOf(entry));
  const items = reversed.items.map((item) => {
    const sequence = entry.sequence - (entry.item ?? 0) + item.item;
    const { feature } =
      run.ledger.find((row) => row.customer === entry.customer && row.sequence === sequence) ?? {};
    const [position] = wallet.check([{ feature: feature ?? "", quantity: 1 }]).items;
    const returned = { creditsReturned: item.credits, overageCredits: item.overageCredits };
    const pool = wallet.poolOf(feature ?? "");
    return { feature, quantity: item.quantity, ...returned, pool, balance: position?.before?.balance };
  });
  const { credits: creditsReturned, overageCredits } = reversed;
  const body = { consumeId, customerId, creditsReturned, overageCredits, items };
  return { kind: "ok", body: JSON.stringify(body), isReplay: false };
}

/** Renders the response without the service's code, to check it. */
function answerOf(
  wallet: ReferenceWallet,
  request: DecidedRequest,
  decided: Decided,
  name: object,
): CallOutcome {
  const { allowed, reason, deniedItem, affordableQuantity } = decided;
  const { customerId } = request;
  const isSeveral = hasItems(request);
  const affordable = allowed ? {} : { affordableQuantity };
  const needed = new Map<string, number>();
  const items = itemsOf(request).map(({ feature, quantity }, index) => {
    const { creditsRequired = 0, before, after } = decided.items[index] ?? {};
    const key = wallet.poolOf(feature);
    const balance = Math.max(0, (before?.balance ?? 0) - (needed.get(key) ?? 0));
    needed.set(key, (needed.get(key) ?? 0) + creditsRequired);
    const overageCredits = allowed ? Math.max(0, creditsRequired - balance) : 0;
    const credits = allowed ? creditsRequired - overageCredits : 0;
    const taken = { consume: { creditsCharged: credits }, holds: { creditsHeld: credits }, check: {} };
    const pool = isSeveral ? { pool: key } : {};
    const { overage = null, ...position } = after ?? {};
    const { held: _, ...shown } = overage ?? {};
    const beyond = overage === null ? {} : { overage: shown, overageCredits };
    return {
      feature,
      quantity,
      creditsRequired,
      ...taken[request.endpoint],
      ...pool,
      ...position,
      ...beyond,
    };
  });
  const [single] = items;
  const body = isSeveral
    ? { allowed, reason, deniedItem, ...affordable, customerId, items, ...name }
    : { allowed, reason, customerId, ...single, ...affordable, ...name };
  return { kind: "ok", body: JSON.stringify(body), isReplay: false };
}

export function consumeIdOf(entry: StoredEntry): string {
  return publicIdOf("con", chargeId(entry));
}

export function holdIdOf(row: StoredHoldChange): string {
  return publicIdOf("hld", holdUuid(row));
}
