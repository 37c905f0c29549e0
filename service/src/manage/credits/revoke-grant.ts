import { revokeGrant as decideRevocation } from "../../entitlement/revoke-grant.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { findGrant, listGrantsOfSlots, markGrantRevoked } from "../../store/cell/grants.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { CustomerId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

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
    const { change, credits } = outcome;
    const { before, after } = compareWallets(open, change?.wallet ?? wallet);
    const audit = {
      action: "grant.revoked",
      subject: `grant ${grant.number}`,
      before,
      after: { ...after, credits },
    };
    await saveEdits(tx, { ...context, clock }, [{ ...open, change, audits: [audit] }]);
    await markGrantRevoked(tx, open, grant.number);
    return { kind: "revoked", credits };
  });
}
