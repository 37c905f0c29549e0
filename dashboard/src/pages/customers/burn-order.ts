import type { Grant } from "./ledger-queries.ts";

/** What can still be spent, in the order in which it will be: soonest expiry first; on a tie given before bought, then oldest. */
export function openInBurnOrder(grants: readonly Grant[]): Grant[] {
  return grants
    .filter(({ remaining }) => remaining > 0)
    .sort(
      (a, b) =>
        expiryOf(a) - expiryOf(b) ||
        Number(a.kind === "purchase") - Number(b.kind === "purchase") ||
        a.grant - b.grant,
    );
}

function expiryOf({ expiresAt }: Grant): number {
  return expiresAt === null ? Number.MAX_SAFE_INTEGER : Date.parse(expiresAt);
}
