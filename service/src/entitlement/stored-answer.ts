import { assert } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import type { Uuid } from "../primitives/uuid.ts";
import type { Consumption } from "./consumption.ts";
import type { Decided, Reason } from "./decide.ts";
import type { OveragePosition } from "./overage.ts";

/**
 * The formats of responses stored under idempotency keys. A response is stored as an ID and a few numbers, and each replay renders it
 * again. The rendering of a format never changes, so a replay has the same bytes. Fields copied from the request are not stored,
 * because a replay is sent only for the same request.
 */
export const ANSWER_FORMAT_EVENT = 1;
/** A consume request for one feature. Denials in this format predate data format 2 and have no affordable quantity. */
export const ANSWER_FORMAT_CONSUME = 2;
/** A denied consume request for one feature, with the affordable quantity in `details`. */
export const ANSWER_FORMAT_DENIAL = 3;
/** A consume request with items, with its decision in `details`. */
export const ANSWER_FORMAT_ITEMS = 4;
/** A request for a hold, with its decision in `details`. */
export const ANSWER_FORMAT_HOLD = 5;
/** A reversal. `details` is the JSON of the response, without the fields copied from the request. */
export const ANSWER_FORMAT_REVERSAL = 6;
/** A consume request for one feature of a plan that allows overage, with its decision in `details`. */
export const ANSWER_FORMAT_OVERAGE = 7;
/** Answer formats 3 to 7 need this data format. Releases that cannot render these formats do not support this data format. */
export const DATA_FORMAT_OF_ITEMS = 2;

export type StoredAnswer = {
  readonly format: number;
  /** The ID of the event, charge, hold or denial. A reversal has the ID of its charge. */
  readonly subjectId: Uuid;
  /** Null for an event. */
  readonly verdict: StoredVerdict | null;
};

/** A verdict as stored in columns. `single` is set in formats 2 and 3. `details` is the JSON of formats 3 to 7. */
export type StoredVerdict = {
  readonly reason: Reason | null;
  readonly single: StoredItem | null;
  readonly details: string | null;
};

export type StoredItem = {
  readonly creditsRequired: number;
  /** The part of the required credits that is used or held as overage. */
  readonly overageCredits: number;
  /** Null for an unknown customer. */
  readonly position: StoredPosition | null;
};

/** The remaining limit is computed, not stored. */
export type StoredPosition = {
  readonly balance: number;
  readonly resetsAt: Instant | null;
  readonly limit: {
    readonly quantity: number;
    readonly used: number;
    readonly resetsAt: Instant | null;
  } | null;
  /** Null if the plan does not allow overage. `credits` and `remaining` are null if overage is unlimited. */
  readonly overage: Pick<OveragePosition, "credits" | "used" | "remaining"> | null;
};

/** A decision as shown in a response. */
export type Verdict = {
  readonly reason: Reason | null;
  readonly deniedItem: number | null;
  /** Null if the response does not contain an affordable quantity. */
  readonly affordableQuantity: number | null;
  readonly items: readonly VerdictItem[];
};

/** An item with the key of its pool. */
export type VerdictItem = StoredItem & { readonly pool: string };

/** A check shows the positions before the decision. A consume request shows the positions after it. */
export function verdictOf(decision: Decided, when: "before" | "after"): Verdict {
  const { reason, deniedItem, affordableQuantity } = decision;
  const items = decision.items.map((item): VerdictItem => {
    const { creditsRequired, pool } = item;
    const overageCredits = decision.allowed ? overageOf(item) : 0;
    return { creditsRequired, overageCredits, pool: pool.key, position: item[when] };
  });
  return { reason, deniedItem, affordableQuantity, items };
}

/** The credits that the balance does not cover after the earlier items are charged. */
function overageOf({ creditsRequired, creditsBefore, before }: Decided["items"][number]): number {
  const left = Math.max(0, (before?.balance ?? 0) - creditsBefore);
  return Math.max(0, creditsRequired - left);
}

/** Until an administrator has finished the upgrade, a denial is stored in a format that the older release can render. */
export function storeAnswer(
  { hasItems }: Pick<Consumption, "hasItems">,
  decision: Decided,
  { subjectId, hasNewFormats }: { readonly subjectId: Uuid; readonly hasNewFormats: boolean },
): StoredAnswer {
  const verdict = verdictOf(decision, "after");
  const { reason, affordableQuantity } = verdict;
  if (hasItems) {
    assert(hasNewFormats, "a request with items is stored in its own format");
    const details = JSON.stringify(packVerdict(verdict));
    return { format: ANSWER_FORMAT_ITEMS, subjectId, verdict: { reason, single: null, details } };
  }
  const single = verdict.items[0] ?? null;
  if (single?.position?.overage != null) {
    assert(hasNewFormats, "a plan with overage is published after the upgrade");
    const details = JSON.stringify(packVerdict(verdict));
    return { format: ANSWER_FORMAT_OVERAGE, subjectId, verdict: { reason, single: null, details } };
  }
  if (reason === null || !hasNewFormats)
    return { format: ANSWER_FORMAT_CONSUME, subjectId, verdict: { reason, single, details: null } };
  const details = JSON.stringify(affordableQuantity);
  return { format: ANSWER_FORMAT_DENIAL, subjectId, verdict: { reason, single, details } };
}

/** The answer to a request for a hold. */
export function storeHoldAnswer(
  { hasItems }: Pick<Consumption, "hasItems">,
  decision: Decided,
  subjectId: Uuid,
): StoredAnswer {
  const verdict = verdictOf(decision, "after");
  const packed: PackedHold = [hasItems ? 1 : 0, decision.hold?.expiresAt ?? null, packVerdict(verdict)];
  const details = JSON.stringify(packed);
  return {
    format: ANSWER_FORMAT_HOLD,
    subjectId,
    verdict: { reason: verdict.reason, single: null, details },
  };
}

/** The affordable quantity in a denial of format 3. Null for any other format. */
export function readAffordable({ format, verdict }: StoredAnswer): number | null {
  return format === ANSWER_FORMAT_DENIAL ? JSON.parse(verdict?.details ?? "null") : null;
}

type PackedLimit = readonly [quantity: number, used: number, resetsAt: Instant | null];
/** An item with overage. `limit` is empty if the item has no limit. */
type PackedOverage = readonly [
  limit: PackedLimit | [],
  overageCredits: number,
  credits: number | null,
  used: number,
  remaining: number | null,
];
type PackedPosition = readonly [
  balance: number,
  resetsAt: Instant | null,
  ...limitOrOverage: PackedLimit | PackedOverage | [],
];
type PackedItem = readonly [creditsRequired: number, pool: string, ...position: PackedPosition | []];
/** The JSON of formats 4 and 7, and a part of format 5. It never changes. */
type PackedVerdict = readonly [
  deniedItem: number | null,
  affordableQuantity: number | null,
  items: readonly PackedItem[],
];

/** The JSON of format 5, which never changes. */
type PackedHold = readonly [hasItems: 0 | 1, expiresAt: Instant | null, verdict: PackedVerdict];

function packVerdict({ deniedItem, affordableQuantity, items }: Verdict): PackedVerdict {
  return [deniedItem, affordableQuantity, items.map(packItem)];
}

function packItem({ creditsRequired, overageCredits, pool, position }: VerdictItem): PackedItem {
  if (position === null) return [creditsRequired, pool];
  const { balance, resetsAt, limit, overage } = position;
  const packed: PackedLimit | [] = limit === null ? [] : [limit.quantity, limit.used, limit.resetsAt];
  if (overage === null) return [creditsRequired, pool, balance, resetsAt, ...packed];
  const { credits, used, remaining } = overage;
  return [creditsRequired, pool, balance, resetsAt, packed, overageCredits, credits, used, remaining];
}

/** The verdict of a stored answer of format 4 or 7. */
export function unpackVerdict({ reason, details }: StoredVerdict): Verdict {
  assert(details !== null, "an answer with items has details");
  return readPacked(reason, JSON.parse(details));
}

/** A stored answer to a request for a hold. */
export function unpackHold({ reason, details }: StoredVerdict): {
  readonly hasItems: boolean;
  readonly expiresAt: Instant | null;
  readonly verdict: Verdict;
} {
  assert(details !== null, "an answer about a hold has details");
  const [hasItems, expiresAt, packed]: PackedHold = JSON.parse(details);
  return { hasItems: hasItems === 1, expiresAt, verdict: readPacked(reason, packed) };
}

/** The position of an item in a stored answer of any format. Null if the item has no position. */
export function positionIn({ format, verdict }: StoredAnswer, item: number): StoredPosition | null {
  if (verdict === null || verdict.single !== null) return verdict?.single?.position ?? null;
  const { items } = format === ANSWER_FORMAT_HOLD ? unpackHold(verdict).verdict : unpackVerdict(verdict);
  return items[item]?.position ?? null;
}

/** Whether the request had `items`. If so, the response has `items` too. */
export function isAnswerToItems({ format, verdict }: StoredAnswer): boolean {
  if (format === ANSWER_FORMAT_HOLD) return verdict !== null && unpackHold(verdict).hasItems;
  return format === ANSWER_FORMAT_ITEMS;
}

function readPacked(reason: Reason | null, [deniedItem, affordableQuantity, items]: PackedVerdict): Verdict {
  return { reason, deniedItem, affordableQuantity, items: items.map(unpackItem) };
}

function unpackItem([creditsRequired, pool, balance, resetsAt = null, ...rest]: PackedItem): VerdictItem {
  if (balance === undefined) return { creditsRequired, overageCredits: 0, pool, position: null };
  if (!hasOverage(rest)) {
    const position = { balance, resetsAt, limit: unpackLimit(rest), overage: null };
    return { creditsRequired, overageCredits: 0, pool, position };
  }
  const [limit, overageCredits, credits, used, remaining] = rest;
  const overage = { credits, used, remaining };
  return {
    ...{ creditsRequired, overageCredits, pool },
    position: { balance, resetsAt, limit: unpackLimit(limit), overage },
  };
}

function hasOverage(rest: PackedLimit | PackedOverage | []): rest is PackedOverage {
  return Array.isArray(rest[0]);
}

function unpackLimit([quantity, used, resetsAt]: PackedLimit | []): StoredPosition["limit"] {
  if (quantity === undefined || used === undefined) return null;
  return { quantity, used, resetsAt: resetsAt ?? null };
}
