import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { Wallet } from "./wallet.ts";

export type ReductionOutcome =
  | { kind: "reduced"; credits: number; change: Change }
  /** Exactly the requested amount already remains. The change contains only due changes. */
  | { kind: "unchanged"; change: Change | null }
  /** The plan does not grant an allowance in this pool. */
  | { kind: "no_allowance" }
  /** A reduction never adds credits. `remaining` is the current amount. */
  | { kind: "above_remaining"; remaining: number };

/**
 * Reduces the allowance of the current period to the amount remaining in another system. The removed credits count as used, so a new plan
 * version does not grant them again. The next period starts with the full allowance.
 */
export function reduceAllowance(
  catalog: Catalog,
  wallet: Wallet,
  { pool, remaining }: { readonly pool: PoolId; readonly remaining: number },
  clock: Instant,
): ReductionOutcome {
  assert(Number.isSafeInteger(remaining) && remaining >= 0, "credits are whole, and never negative");
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const allowance = draft.wallet.assignment?.allowances.find((granted) => granted.pool === pool);
  const grant = draft.wallet.grants.find(({ number }) => number === allowance?.grant);
  if (grant === undefined) return { kind: "no_allowance" };
  if (remaining > grant.remaining) return { kind: "above_remaining", remaining: grant.remaining };
  const credits = grant.remaining - remaining;
  if (credits === 0) return { kind: "unchanged", change: draft.finish(now) };
  draft.move({ kind: "revoke", pool, parts: [{ grant: grant.number, amount: -credits }] });
  const change = draft.finish(now);
  assert(change !== null, "a reduction changes the wallet");
  return { kind: "reduced", credits, change };
}
