import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { GrantKind, Wallet } from "./wallet.ts";

/** A grant as it was recorded. Grants of one kind and expiry share a slot of the wallet, named for the first of them. */
export type GrantFacts = {
  readonly number: number;
  readonly slot: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  readonly isRevoked: boolean;
};

export type RevocationOutcome =
  | { kind: "revoked"; credits: number; change: Change | null }
  | { kind: "already_revoked" };

/** Takes back the rest of a named grant: what was spent of it stays spent. */
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
  return { kind: "revoked", credits, change: draft.finish(now) };
}

/** What waits with a plan that was left is in no balance, so no entry takes it; but it must not come back. */
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
 * What a grant owns of what is left in its slot, where `later` is what the slot's later grants gave, those that were revoked
 * left out. First in, first out: the latest own the most.
 */
export function shareOf(
  { kind, credits }: Pick<GrantFacts, "kind" | "credits">,
  { remaining, later }: { readonly remaining: number; readonly later: number },
): number {
  // An allowance shares its slot with nobody, and a version change may have made it larger than it began.
  return kind === "allowance" ? remaining : Math.min(Math.max(remaining - later, 0), credits);
}
