import { assert } from "../primitives/assert.ts";
import type { PoolId } from "../primitives/brand.ts";
import type { Part } from "./entry.ts";
import type { Grant } from "./wallet.ts";

/** Soonest expiry first, none last; on a tie given before bought, then oldest. There are no other knobs. */
export function burnOrder(a: Grant, b: Grant): number {
  const expiry = (a.expiresAt ?? Number.POSITIVE_INFINITY) - (b.expiresAt ?? Number.POSITIVE_INFINITY);
  // Two without an end give NaN, which is as much of a tie as 0.
  if (expiry !== 0 && !Number.isNaN(expiry)) return expiry;
  const bought = Number(a.kind === "purchase") - Number(b.kind === "purchase");
  return bought !== 0 ? bought : a.number - b.number;
}

/** What each grant of the pool gives, of grants in burn order that hold enough. */
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
