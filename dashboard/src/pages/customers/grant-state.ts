import type { GrantState } from "../../words/ledger-words.ts";
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
  const open = grants.filter(({ remaining }) => remaining > 0).toSorted(byBurnOrder);
  const firsts = new Map<string, number>();
  for (const { pool, grant } of open) if (!firsts.has(pool)) firsts.set(pool, grant);
  return new Set(firsts.values());
}

function byBurnOrder(a: Grant, b: Grant): number {
  const [endA, endB] = [endOf(a), endOf(b)];
  if (endA !== endB) return endA < endB ? -1 : 1;
  const bought = Number(a.kind === "purchase") - Number(b.kind === "purchase");
  return bought !== 0 ? bought : a.grant - b.grant;
}

function endOf({ expiresAt }: Grant): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}
