import { assert } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import { addCredits, type CreditsOutcome } from "./add-credits.ts";
import type { Catalog } from "./catalog.ts";
import { decisionTime } from "./draft.ts";
import type { Change, NewGrant } from "./entry.ts";
import { isAhead } from "./period.ts";
import { type GrantFacts, revokeGrant } from "./revoke-grant.ts";
import type { Wallet } from "./wallet.ts";

/** Why a grant has no credits that can move. */
type NothingLeft =
  | { readonly why: "revoked" | "expired" }
  | { readonly why: "spent" | "held"; readonly spent: number; readonly held: number };

export type MoveOutcome =
  | {
      kind: "moved";
      credits: number;
      /** Credits of the grant that were spent before the move. */
      spent: number;
      /** Credits of the grant that open holds set aside. Held credits do not move: each hold spends or revokes them when it ends. */
      held: number;
      /** The receiving customer's new grant. */
      grant: NewGrant;
      from: Change;
      to: Change;
    }
  | ({ kind: "nothing_left" } & NothingLeft)
  | { kind: "allowance" }
  | Exclude<CreditsOutcome, { kind: "added" }>;

/**
 * Moves the remaining credits of a grant to another customer: a revocation in one wallet, and a grant with the same pool, kind and
 * expiry in the other. The sum of both balances does not change.
 */
export function moveGrant(
  catalog: Catalog,
  wallets: { readonly from: Wallet; readonly to: Wallet },
  request: { readonly grant: GrantFacts; readonly slot: readonly GrantFacts[] },
  clock: Instant,
): MoveOutcome {
  const { pool, kind, expiresAt, credits: given } = request.grant;
  if (kind === "allowance") return { kind };
  const revoked = revokeGrant(catalog, wallets.from, request, clock);
  if (revoked.kind === "already_revoked") return { kind: "nothing_left", why: "revoked" };
  if (!isAhead(expiresAt, decisionTime(catalog, wallets.from, clock)))
    return { kind: "nothing_left", why: "expired" };
  const { credits, held, change } = revoked;
  const spent = given - credits - held;
  if (credits === 0) return { kind: "nothing_left", why: held > 0 ? "held" : "spent", spent, held };
  assert(change !== null, "revoked credits change the wallet");
  const added = addCredits(catalog, wallets.to, { pool, kind, credits, expiresAt }, clock);
  if (added.kind !== "added") return added;
  return { kind: "moved", credits, spent, held, grant: added.grant, from: change, to: added.change };
}
