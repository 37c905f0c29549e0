import { assert } from "../primitives/assert.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { unitsFor } from "./buying-power.ts";
import { type Catalog, chargeFor } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import type { Reason } from "./decide.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { closeHold, countedIn, isOpenAt, type SettledItem } from "./hold.ts";
import { type Counted, countsCharge, isCountedBy, recount } from "./limits.ts";
import { setAside } from "./open-hold.ts";
import { overageLeftIn } from "./overage.ts";
import { join, sumOf } from "./part-lists.ts";
import { isAhead } from "./period.ts";
import type { TopUpMode } from "./top-ups.ts";
import { balanceOf, type HeldItem, type Hold, type LimitCounter, type Wallet } from "./wallet.ts";

/** Maximum duration of a hold, including all extensions. */
export const HOLD_MS_MAX = 7 * 86_400_000;
/** How long after its expiry a hold that released its credits can still be settled. */
export const LATE_MS_MAX = 35 * 86_400_000;

type Settlement = {
  readonly hold: Hold;
  /** The quantities actually used, in the order of the hold's items. Null settles the full held quantities. */
  readonly quantities: readonly number[] | null;
  readonly atMostHeld: boolean;
};

export type SettleOutcome =
  | { kind: "settled"; items: readonly SettledItem[]; isLate: boolean; change: Change }
  /** The hold was charged in full when it expired. */
  | { kind: "charged_on_expiry"; change: Change | null }
  | { kind: "settled_too_late" };

/**
 * Charges for the quantities used and releases the remaining credits. Settling is never denied, because the work is already done. Any
 * amount beyond credits and overage is recorded as uncovered. The caller ensures that no request has settled or released the hold.
 */
export function settleHold(
  catalog: Catalog,
  wallet: Wallet,
  { hold, quantities, atMostHeld }: Settlement,
  clock: Instant,
): SettleOutcome {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const isLate = !isOpenAt(hold, now);
  if (isLate && hold.onExpiry === "charge") return { kind: "charged_on_expiry", change: draft.finish(now) };
  if (isLate && hold.expiresAt + LATE_MS_MAX < now) return { kind: "settled_too_late" };
  const items = closeHold(catalog, draft, hold, {
    quantities: quantities ?? hold.items.map(({ quantity }) => quantity),
    // A blocked customer pays only from the hold.
    atMostHeld: atMostHeld || draft.wallet.isBlocked,
    isLate,
  });
  draft.noteHold("settled", hold);
  return { kind: "settled", items, isLate, change: finishChanged(draft, now, "open") };
}

export type ReleaseOutcome =
  | { kind: "released"; items: readonly SettledItem[]; change: Change }
  /** The hold has expired, and its credits were released or charged. */
  | { kind: "hold_expired"; change: Change | null };

/** Releases all credits of a hold. */
export function releaseHold(catalog: Catalog, wallet: Wallet, hold: Hold, clock: Instant): ReleaseOutcome {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  if (!isOpenAt(hold, now)) return { kind: "hold_expired", change: draft.finish(now) };
  const items = closeHold(catalog, draft, hold, { quantities: null, atMostHeld: true, isLate: false });
  draft.noteHold("released", hold);
  return { kind: "released", items, change: finishChanged(draft, now, "repeat") };
}

/** Releases all holds. The wallet must have been read with all of its holds. */
export function releaseAllHolds(catalog: Catalog, wallet: Wallet, clock: Instant): Change | null {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  for (const hold of draft.wallet.holds) {
    closeHold(catalog, draft, hold, { quantities: null, atMostHeld: true, isLate: false });
    draft.noteHold("released", hold);
  }
  return draft.finish(now);
}

type Extension = {
  readonly hold: Hold;
  /** The new total quantity. Null leaves the quantity unchanged. */
  readonly quantity: number | null;
  /** Null leaves the expiry unchanged. */
  readonly expiresAt: Instant | { readonly inMs: number } | null;
};

export type ExtendOutcome =
  | { kind: "extended"; hold: Hold; change: Change | null }
  | { kind: "denied"; reason: Reason; affordableQuantity: number; change: Change | null }
  | { kind: "hold_expired"; change: Change | null }
  | { kind: "expires_too_late" };

/**
 * Increases the quantity or extends the expiry of a hold with one item, and never reduces either. If the extension is denied, the hold
 * does not change.
 */
export function extendHold(
  catalog: Catalog,
  wallet: Wallet,
  { hold, quantity, expiresAt }: Extension,
  clock: Instant,
): ExtendOutcome {
  const [item] = hold.items;
  assert(item !== undefined && hold.items.length === 1, "only a hold with one item is extended");
  const now = decisionTime(catalog, wallet, clock);
  const end = typeof expiresAt === "object" && expiresAt !== null ? now + expiresAt.inMs : expiresAt;
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  if (!isOpenAt(hold, now)) return { kind: "hold_expired", change: draft.finish(now) };
  if (end !== null && end > hold.openedAt + HOLD_MS_MAX) return { kind: "expires_too_late" };
  const total = Math.max(quantity ?? 0, item.quantity);
  const denial = total === item.quantity ? null : findDenial(catalog, draft, { hold, item, total });
  if (denial !== null) return { kind: "denied", ...denial, change: draft.finish(now) };
  const extended: Hold = {
    ...hold,
    expiresAt: brandAs<Instant>(Math.max(end ?? 0, hold.expiresAt)),
    items: [total === item.quantity ? item : holdMore(draft, hold, item, total)],
  };
  const isSame = total === item.quantity && extended.expiresAt === hold.expiresAt;
  if (isSame) return { kind: "extended", hold, change: draft.finish(now) };
  draft.noteHold("extended", extended);
  return { kind: "extended", hold: extended, change: draft.finish(now) };
}

type Denial = { readonly reason: Reason; readonly affordableQuantity: number };

/** Why the extension is denied under the terms of the hold, not of the current plan. Null if the extension is allowed. */
function findDenial(
  catalog: Catalog,
  draft: Draft,
  { hold, item, total }: { readonly hold: Hold; readonly item: HeldItem; readonly total: number },
): Denial | null {
  const { wallet } = draft;
  if (wallet.isBlocked) return { reason: "customer_blocked", affordableQuantity: 0 };
  const { cost, pool, parts, overage } = item;
  const byLimit =
    item.limit === null ? Number.POSITIVE_INFINITY : roomIn(draft, hold, item, item.limit.quantity);
  const left = balanceOf(wallet, pool) + overageLeftIn(catalog, wallet, pool);
  const credits = sumOf(parts) + sumOf(overage) + left;
  const byCredits = cost.credits === 0 ? Number.POSITIVE_INFINITY : unitsFor(cost, credits);
  // The quantity already held remains affordable, even if other usage has exceeded the limit in the meantime.
  const affordableQuantity = Math.max(item.quantity, Math.min(byLimit, byCredits));
  if (total > byLimit) return { reason: "limit_reached", affordableQuantity };
  if (chargeFor(cost, total) > credits) return { reason: "insufficient_credits", affordableQuantity };
  return null;
}

/** The largest total that the limit allows. After the limit's period has ended, the quantity of the hold cannot be increased. */
function roomIn({ wallet, at }: Draft, hold: Hold, item: HeldItem, limit: number): number {
  const counter = findCounter(wallet, hold, item, at);
  return counter === undefined ? item.quantity : Math.max(0, limit - (counter.used - item.quantity));
}

/** The counter of the limit that was in force when the hold was opened. Undefined if the limit's period has ended. */
function findCounter(
  { assignment, paused, ownCounters }: Wallet,
  hold: Hold,
  item: HeldItem,
  now: Instant,
): LimitCounter | undefined {
  const charge: Counted = countedIn(hold, item);
  const own = item.limit?.own ?? null;
  if (own !== null)
    return ownCounters.find(
      (counter) => counter.period === own && countsCharge(counter, charge) && isAhead(counter.end, now),
    );
  const plans = [...(assignment === null ? [] : [assignment]), ...paused.map((plan) => plan.assignment)];
  const { counters = [] } = plans.find(({ number }) => number === hold.assignment) ?? {};
  return counters.find((counter) => isCountedBy(counter, charge) && isAhead(counter.end, now));
}

function holdMore(draft: Draft, hold: Hold, item: HeldItem, total: number): HeldItem {
  const { cost, pool, parts, overage } = item;
  const more = setAside(draft, pool, chargeFor(cost, total) - sumOf(parts) - sumOf(overage));
  draft.wallet = recount(draft.wallet, countedIn(hold, item), total - item.quantity);
  return {
    ...item,
    quantity: total,
    parts: join(parts, more.parts),
    overage: join(overage, more.overage),
  };
}

function finishChanged(draft: Draft, now: Instant, mode: TopUpMode): Change {
  const change = draft.finish(now, mode);
  assert(change !== null, "a hold that ends changes the wallet");
  return change;
}
