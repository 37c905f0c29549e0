import { assert } from "../primitives/assert.ts";
import {
  brandAs,
  type CustomerId,
  type FeatureKey,
  type IdempotencyKey,
  type Quantity,
} from "../primitives/brand.ts";
import type { Uuid } from "../primitives/uuid.ts";
import { type Catalog, getFeatureKey, getPool } from "./catalog.ts";
import { type Fingerprint, fingerprint, type ShortHash } from "./fingerprint.ts";
import type { KeyConflict } from "./key-conflict.ts";
import { hashKey } from "./key-hash.ts";
import type { ConsumeFacts, ReversalOutcome, ReversedTotal } from "./reverse-consume.ts";
import { ANSWER_FORMAT_REVERSAL, type StoredAnswer } from "./stored-answer.ts";
import { balanceOf, type Wallet } from "./wallet.ts";

/** The parsed body of a backend's request to reverse a charge. */
export type Reversal = {
  readonly customerId: CustomerId;
  readonly consumeId: string;
  /** The part to reverse. Null for everything not yet reversed. `feature` is null if the caller sent no feature. */
  readonly part: { readonly feature: FeatureKey | null; readonly quantity: Quantity } | null;
  readonly note: string | null;
};

/** How old a charge can be when a backend reverses it. Idempotency keys are kept longer, so a retry never reverses twice. */
export const REVERSIBLE_MS_MAX = 35 * 86_400_000;

/** The outcome of a request to reverse a charge. Only `answered` changes anything, unless it is a replay. */
export type KeyedReversalOutcome =
  | { kind: "answered"; answer: StoredAnswer; replayed: boolean }
  | { kind: "key_reused"; conflict: KeyConflict }
  | { kind: "charge_not_found" | "charge_too_old" | "feature_required" }
  | Exclude<ReversalOutcome, { kind: "reversed" }>;

export type KeyedReversal = {
  readonly key: IdempotencyKey;
  readonly keyHash: ShortHash;
  readonly fingerprint: Fingerprint;
};

/**
 * The key under which the response is stored. If the caller sent no key, it contains a space, so that it never equals a caller's key. A
 * retry with another note is the same request.
 */
export function keyReversal(reversal: Reversal, idempotencyKey: string | null): KeyedReversal {
  const { customerId, consumeId, part } = reversal;
  const text = idempotencyKey ?? `reverse ${consumeId}`;
  const feature = part?.feature ?? null;
  return {
    key: brandAs<IdempotencyKey>(text),
    keyHash: hashKey(text),
    fingerprint: fingerprint([
      ["consumeId", JSON.stringify(consumeId)],
      ["customerId", JSON.stringify(customerId)],
      ["feature", feature === null ? null : JSON.stringify(feature)],
      ["quantity", part === null ? null : String(part.quantity)],
    ]),
  };
}

/** The part of the response about one charge. */
type ReversedItem = {
  readonly feature: FeatureKey;
  readonly quantity: number;
  readonly creditsReturned: number;
  readonly overageCredits: number;
  readonly pool: string;
  readonly balance: number;
};

/** The JSON of answer format 6. */
type Details = {
  readonly creditsReturned: number;
  readonly overageCredits: number;
  readonly items: readonly ReversedItem[];
};

type Reversed = {
  readonly subjectId: Uuid;
  /** The charges of the request. `total` refers to them by index. */
  readonly consumes: readonly ConsumeFacts[];
  readonly total: ReversedTotal;
  /** The wallet after the reversal. */
  readonly wallet: Wallet;
};

/** The response to a reversal. Stored without the fields that come from the request. */
export function storeReversal(
  catalog: Catalog,
  { subjectId, consumes, total, wallet }: Reversed,
): StoredAnswer {
  const items = total.items.map(({ item, quantity, credits, overageCredits }): ReversedItem => {
    const consume = consumes.find(({ place }) => (place?.index ?? 0) === item);
    assert(consume !== undefined, "a reversal names charges of its request");
    return {
      feature: getFeatureKey(catalog, consume.feature),
      quantity,
      creditsReturned: credits,
      overageCredits,
      pool: getPool(catalog, consume.pool).key,
      balance: balanceOf(wallet, consume.pool),
    };
  });
  const { credits: creditsReturned, overageCredits } = total;
  const details: Details = { creditsReturned, overageCredits, items };
  const verdict = { reason: null, single: null, details: JSON.stringify(details) };
  return { format: ANSWER_FORMAT_REVERSAL, subjectId, verdict };
}

/** The first item of a stored reversal. A reversal of a part has only one item. */
export function firstReversed({ verdict }: StoredAnswer): Pick<ReversedItem, "feature" | "quantity"> {
  assert(verdict?.details != null, "a reversal has details");
  const { items }: Details = JSON.parse(verdict.details);
  const [first] = items;
  assert(first !== undefined, "a reversal has at least one item");
  return first;
}
