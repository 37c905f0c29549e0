import { assert } from "../primitives/assert.ts";
import type { PoolId } from "../primitives/brand.ts";
import type { Part } from "./entry.ts";
import type { Grant } from "./wallet.ts";

/** Credits that expire first are spent first. Ties: free before purchased, then oldest first. This order is not configurable. */
export function burnOrder(a: Grant, b: Grant): number {
  const expiry = (a.expiresAt ?? Number.POSITIVE_INFINITY) - (b.expiresAt ?? Number.POSITIVE_INFINITY);
  // For two grants that never expire, the difference is NaN, which counts as a tie.
  if (expiry !== 0 && !Number.isNaN(expiry)) return expiry;
  const bought = Number(a.kind === "purchase") - Number(b.kind === "purchase");
  return bought !== 0 ? bought : a.number - b.number;
}

/** How much each grant in the pool pays. Expects the grants in burn order, with enough credits. */
export function burn(grants: readonly Grant[], pool: PoolId, credits: number): Part[] {
  const parts: Part[] = [];
  let left = credits;
  for (const grant of grants) {
    if (left === 0) break;
    if (grant.pool !== pool || grant.remaining === 0) continue;
    const amount = Math.min(left, grant.remaining);
    parts.push({ grant: grant.number, amount: -amount });
    left -= amount;
  }
  assert(left === 0, "a charge is covered by grants");
  return parts;
}
