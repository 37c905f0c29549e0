import type { GrantState } from "../../words/ledger-words.ts";
import { openInBurnOrder } from "./burn-order.ts";
import type { Grant, PlanChange } from "./ledger-queries.ts";

/** What became of a grant; `changes` are the plan's, by which an allowance may have ended before its time. */
export function stateOfGrant(grant: Grant, changes: readonly PlanChange[], now: number): GrantState {
  if (grant.revokedAt !== null) return "revoked";
  if (grant.remaining > 0) return "open";
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= now) return "expired";
  const isLeft =
    grant.kind === "allowance" &&
    changes.some(({ change, effectiveAt }) => change === "ended" && effectiveAt > grant.recordedAt);
  return isLeft ? "ended" : "spent";
}

/** The one of each pool that the next charge takes from first, as `BURN_ORDER` says. */
export function findNextGrants(grants: readonly Grant[]): Set<number> {
  const firsts = new Map<string, number>();
  for (const { pool, grant } of openInBurnOrder(grants)) if (!firsts.has(pool)) firsts.set(pool, grant);
  return new Set(firsts.values());
}
