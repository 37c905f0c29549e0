import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { revokeHeld } from "./hold.ts";
import { findHeld, type GrantKind, type Wallet } from "./wallet.ts";

/** A grant's row. Grants with the same pool, kind and expiry share a slot in the wallet. A slot has the number of its first grant. */
export type GrantFacts = {
  readonly number: number;
  readonly slot: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  readonly isRevoked: boolean;
};

type RevocationOutcome =
  /** `held`: revoked credits that open holds set aside. They are removed when their hold ends. */
  { kind: "revoked"; credits: number; held: number; change: Change | null } | { kind: "already_revoked" };

/** Revokes the credits left in a grant. Spent credits are not affected. Held credits are removed when their hold ends. */
export function revokeGrant(
  catalog: Catalog,
  wallet: Wallet,
  request: { readonly grant: GrantFacts; readonly slot: readonly GrantFacts[] },
  clock: Instant,
): RevocationOutcome {
  const { grant } = request;
  if (grant.isRevoked) return { kind: "already_revoked" };
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const { grants, holds, openHolds } = draft.wallet;
  assert(holds.length === openHolds, "credits are revoked with all open holds known");
  const open = grants.find(({ number }) => number === grant.slot);
  const { start, end, held: heldInSlot } = findShare(draft.wallet, request, open?.remaining ?? 0);
  const credits = Math.max(0, end - Math.max(start, heldInSlot));
  const held = end - start - credits;
  if (credits > 0)
    draft.move({ kind: "revoke", pool: grant.pool, parts: [{ grant: grant.slot, amount: -credits }] });
  if (open === undefined) forgetPaused(draft, grant.number);
  if (held > 0) revokeHeld(draft, grant.slot, { start, end: start + held });
  return { kind: "revoked", credits, held, change: draft.finish(now) };
}

/**
 * The range of the slot's credits that belongs to the grant. Held credits come first, in the order in which they were held, then
 * remaining credits. First in, first out: the last credits belong to the latest grants.
 */
function findShare(
  { held: all }: Wallet,
  { grant, slot }: { readonly grant: GrantFacts; readonly slot: readonly GrantFacts[] },
  remaining: number,
): { readonly start: number; readonly end: number; readonly held: number } {
  const { credits = 0, revoked = 0 } = findHeld({ held: all }, grant.slot) ?? {};
  const held = credits - revoked;
  const total = held + remaining;
  const later = ownedIn(slot.filter(({ number }) => number > grant.number));
  const share = shareOf(grant, { remaining: total, later });
  const end = grant.kind === "allowance" ? total : Math.max(0, total - later);
  return { start: end - share, end, held };
}

/** The credits of the grants that are not revoked. */
export function ownedIn(slot: readonly GrantFacts[]): number {
  let owned = 0;
  for (const { isRevoked, credits } of slot) if (!isRevoked) owned += credits;
  return owned;
}

/**
 * Removes a revoked allowance's credits from a paused plan, so that they do not return when the plan resumes. Does not write an entry,
 * because the credits are not part of any balance.
 */
function forgetPaused(draft: Draft, number: number): void {
  const waits = draft.wallet.paused.some(({ grants }) => grants.some((grant) => grant.number === number));
  if (!waits) return;
  const paused = draft.wallet.paused.map((plan) => ({
    ...plan,
    grants: plan.grants.map((grant) => (grant.number === number ? { ...grant, remaining: 0 } : grant)),
  }));
  draft.wallet = { ...draft.wallet, paused };
}

/**
 * A grant's share of the credits that remain in its slot. `later` is the sum of the slot's later grants that are not revoked.
 * First in, first out: the remaining credits belong to the latest grants.
 */
export function shareOf(
  { kind, credits }: Pick<GrantFacts, "kind" | "credits">,
  { remaining, later }: { readonly remaining: number; readonly later: number },
): number {
  // An allowance never shares its slot, and a version change may have increased it.
  return kind === "allowance" ? remaining : Math.min(Math.max(remaining - later, 0), credits);
}
