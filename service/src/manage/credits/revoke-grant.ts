import { revokeGrant as decideRevocation } from "../../entitlement/revoke-grant.ts";
import type { Pool } from "../../postgres/pool.ts";
import { findGrant, listGrantsOfSlots, markGrantRevoked } from "../../store/cell/grants.ts";
import type { CustomerId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import {
  auditCustomer,
  openWallet,
  saveChange,
  summarize,
  summarizeBefore,
} from "../customers/open-wallet.ts";
import { walletTransaction } from "../customers/wallet-transaction.ts";

export type RevokeOutcome =
  | { kind: "revoked"; credits: number }
  | { kind: "already_revoked" | "customer_not_found" | "grant_not_found" };

/** Takes back the rest of a grant. What was spent of it stays spent. */
export function revokeGrant(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId; readonly grant: number },
): Promise<RevokeOutcome> {
  return walletTransaction<RevokeOutcome>(cell, context, input.customerId, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open === null) return { kind: "customer_not_found" };
    const grant = await findGrant(tx, open, input.grant);
    if (grant === null) return { kind: "grant_not_found" };
    const slot = await listGrantsOfSlots(tx, open, [grant.slot]);
    const { catalog, wallet, clock } = open;
    const outcome = decideRevocation(catalog, wallet, { grant, slot }, clock);
    if (outcome.kind === "already_revoked") return outcome;
    await saveChange(tx, open, outcome.change);
    await markGrantRevoked(tx, open, grant.number);
    await auditCustomer(tx, context, open, {
      action: "grant.revoked",
      subject: `grant ${grant.number}`,
      before: summarizeBefore(open),
      after: { ...summarize(outcome.change?.wallet ?? wallet, catalog), credits: outcome.credits },
    });
    return { kind: "revoked", credits: outcome.credits };
  });
}
