import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { type GrantKind, heldOf, type Wallet } from "./wallet.ts";

/** A grant's row. Grants with the same pool, kind and expiry share a slot in the wallet, numbered by the first of them. */
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
  | { kind: "revoked"; credits: number; change: Change | null }
  | { kind: "already_revoked" };

/** Revokes the credits left in a grant. Spent credits are not affected. */
export function revokeGrant(
  catalog: Catalog,
  wallet: Wallet,
  request: { readonly grant: GrantFacts; readonly slot: readonly GrantFacts[] },
  clock: Instant,
): RevocationOutcome {
  const { grant } = request;
  if (grant.isRevoked) return { kind: "already_revoked" };
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  const open = draft.wallet.grants.find(({ number }) => number === grant.slot);
  const credits = open === undefined ? 0 : restOf(grant, request.slot, open.remaining);
  if (credits > 0)
    draft.move({ kind: "revoke", pool: grant.pool, parts: [{ grant: grant.slot, amount: -credits }] });
  if (open === undefined) forgetPaused(draft, grant.number);
  revokeHeld(draft, request);
  return { kind: "revoked", credits, change: draft.finish(now) };
}

/** Held credits are taken when their hold ends. The slot's credits that are not revoked are the latest ones. */
function revokeHeld(
  draft: Draft,
  { grant, slot }: { readonly grant: GrantFacts; readonly slot: readonly GrantFacts[] },
): void {
  const { held, grants, holdCount: lastHold } = draft.wallet;
  const remaining = grants.find(({ number }) => number === grant.slot)?.remaining ?? 0;
  const total = remaining + heldOf({ held }, grant.slot);
  const owned = ownedIn(slot.filter(({ number }) => number !== grant.number));
  const revoked = { credits: Math.max(0, total - owned), lastHold };
  draft.wallet = {
    ...draft.wallet,
    held: held.map((other) => (other.grant === grant.slot ? { ...other, revoked } : other)),
  };
}

/** The credits of the grants that are not revoked. */
export function ownedIn(slot: readonly GrantFacts[]): number {
  let owned = 0;
  for (const { isRevoked, credits } of slot) if (!isRevoked) owned += credits;
  return owned;
}

/** Allowances of a paused plan are not part of any balance, so no entry removes them, but they must not return with the plan. */
function forgetPaused(draft: Draft, number: number): void {
  const waits = draft.wallet.paused.some(({ grants }) => grants.some((grant) => grant.number === number));
  if (!waits) return;
  const paused = draft.wallet.paused.map((plan) => ({
    ...plan,
    grants: plan.grants.map((grant) => (grant.number === number ? { ...grant, remaining: 0 } : grant)),
  }));
  draft.wallet = { ...draft.wallet, paused };
}

function restOf(grant: GrantFacts, slot: readonly GrantFacts[], remaining: number): number {
  let later = 0;
  for (const other of slot) if (other.number > grant.number && !other.isRevoked) later += other.credits;
  return shareOf(grant, { remaining, later });
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
