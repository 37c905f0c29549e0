import { assert } from "../primitives/assert.ts";
import { brandAs, type Instant, type PoolId } from "../primitives/brand.ts";
import { burn } from "./burn-order.ts";
import type { Catalog } from "./catalog.ts";
import type { HoldDuration } from "./consumption.ts";
import { count, type Decision, decide, type Priced, type RequestedItem } from "./decide.ts";
import type { Draft } from "./draft.ts";
import { overageParts } from "./overage.ts";
import { balanceOf, type HeldItem, type Hold, OPEN_HOLDS_MAX, type Wallet } from "./wallet.ts";

export type HoldTerms = HoldDuration & Pick<Hold, "memberId">;

/** Decides like a consume request, but sets the credits aside instead of charging them. */
export function holdCredits(
  catalog: Catalog,
  known: Wallet | null,
  { requested, terms }: { readonly requested: readonly RequestedItem[]; readonly terms: HoldTerms },
  clock: Instant,
): Decision | { readonly kind: "too_many_holds" } {
  const decision = decide(catalog, known, requested, clock, (draft, items) => ({
    entries: [],
    hold: openHold(draft, items, terms),
  }));
  const isOneTooMany =
    decision.kind === "decided" &&
    decision.hold !== null &&
    (decision.change?.wallet.openHolds ?? 0) > OPEN_HOLDS_MAX;
  return isOneTooMany ? { kind: "too_many_holds" } : decision;
}

/** Opens a hold. Its items count toward limits now, and are charged when the hold is settled. */
function openHold(
  draft: Draft,
  items: readonly Priced[],
  { expiresInMs, onExpiry, memberId }: HoldTerms,
): Hold {
  const { assignment, holdCount, openHolds } = draft.wallet;
  assert(assignment !== null, "only a feature that the customer may use is held");
  const number = holdCount + 1;
  const held = items.map((item) => holdItem(draft, item));
  draft.wallet = { ...draft.wallet, holdCount: number, openHolds: openHolds + 1 };
  const hold: Hold = {
    number,
    openedAt: draft.at,
    expiresAt: brandAs<Instant>(draft.at + expiresInMs),
    onExpiry,
    memberId,
    planVersion: assignment.version,
    assignment: assignment.number,
    items: held,
  };
  draft.noteHold("opened", hold);
  return hold;
}

function holdItem(draft: Draft, item: Priced): HeldItem {
  const { override, overrides, terms, pool, quantity, creditsRequired, before } = item;
  assert(terms !== undefined, "only a feature that the customer may use is held");
  const held = setAside(draft, pool.id, creditsRequired);
  count(draft, item, draft.wallet.sequence + 1);
  const own = override?.limit?.period ?? null;
  const limit = before.limit && { quantity: before.limit.quantity, own };
  return { feature: terms.feature, quantity, pool: pool.id, cost: terms.cost, overrides, limit, ...held };
}

/** Sets credits of a pool aside, in burn order, and overage if the credits are not enough. */
export function setAside(
  draft: Draft,
  pool: PoolId,
  creditsRequired: number,
): Pick<HeldItem, "parts" | "overage"> {
  const credits = Math.min(creditsRequired, balanceOf(draft.wallet, pool));
  const parts = burn(draft.wallet.grants, pool, credits).map(({ grant, amount }) => ({
    grant,
    credits: -amount,
    isRevoked: false,
  }));
  const held = { parts, overage: overageParts(draft.wallet, pool, creditsRequired - credits) };
  draft.setAside(held);
  return held;
}
