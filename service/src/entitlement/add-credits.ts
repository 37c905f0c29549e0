import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change, NewGrant } from "./entry.ts";
import { type GrantKind, hasRoomFor, OPEN_GRANTS_MAX, type Wallet } from "./wallet.ts";

type CreditsRequest = {
  readonly pool: PoolId;
  readonly kind: Exclude<GrantKind, "allowance">;
  readonly credits: number;
  readonly expiresAt: Instant | null;
};

export type CreditsOutcome =
  | { kind: "added"; grant: NewGrant; change: Change }
  | { kind: "too_many_grants" | "expires_in_the_past" | "balance_too_large" };

/** Adds credits as a new grant, or to an open grant with the same pool, kind and expiry. Repeating the call adds the credits again. */
export function addCredits(
  catalog: Catalog,
  wallet: Wallet,
  request: CreditsRequest,
  clock: Instant,
): CreditsOutcome {
  const { pool, kind, credits, expiresAt } = request;
  assert(Number.isSafeInteger(credits) && credits >= 1, "credits are a whole number of at least 1");
  const now = decisionTime(catalog, wallet, clock);
  if (expiresAt !== null && expiresAt <= now) return { kind: "expires_in_the_past" };
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  if (!hasRoomFor(draft.wallet, credits)) return { kind: "balance_too_large" };
  const { grants } = draft.wallet;
  const twin = grants.find(
    (grant) => grant.pool === pool && grant.kind === kind && grant.expiresAt === expiresAt,
  );
  if (twin === undefined && countOpen(draft.wallet) >= OPEN_GRANTS_MAX) return { kind: "too_many_grants" };
  const grant =
    twin === undefined ? draft.open({ pool, kind, expiresAt }, credits) : draft.merge(twin, credits);
  const change = draft.finish(now);
  assert(change !== null, "added credits change the wallet");
  return { kind: "added", grant, change };
}

/** The number of grants with remaining or held credits. */
function countOpen({ grants, held }: Wallet): number {
  const open = grants.filter(({ remaining }) => remaining > 0).map(({ number }) => number);
  return new Set([...open, ...held.map(({ grant }) => grant)]).size;
}
