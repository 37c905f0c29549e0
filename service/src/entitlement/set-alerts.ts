import type { Instant, PoolId } from "../primitives/brand.ts";
import type { PoolAlerts } from "./alerts.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { Wallet } from "./wallet.ts";

/** `unchanged`: the customer already has the same rules. The change contains only due changes. */
type AlertsOutcome = { readonly kind: "changed" | "unchanged"; readonly change: Change | null };

/**
 * Replaces all thresholds and rules of a customer. An open request stays open, also without a rule, because its payment may still be
 * processed. A new or changed rule whose balance is already below the rule's threshold requests a top-up immediately. Safe to repeat.
 */
export function setAlerts(
  catalog: Catalog,
  wallet: Wallet,
  request: readonly PoolAlerts[],
  clock: Instant,
): AlertsOutcome {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const { alerts } = draft.wallet;
  const pools = inOrder(request);
  if (JSON.stringify(pools) === JSON.stringify(alerts.pools))
    return { kind: "unchanged", change: draft.finish(now) };
  draft.wallet = { ...draft.wallet, alerts: { ...alerts, pools } };
  return { kind: "changed", change: draft.finish(now, changedRules(alerts.pools, pools)) };
}

/** The pools whose rule for top-ups is new or has changed. Other pools keep waiting for usage. */
function changedRules(before: readonly PoolAlerts[], after: readonly PoolAlerts[]): Set<PoolId> {
  const known = new Map(before.map(({ pool, topUp }) => [pool, JSON.stringify(topUp)]));
  const changed = after.filter(({ pool, topUp }) => known.get(pool) !== JSON.stringify(topUp));
  return new Set(changed.map(({ pool }) => pool));
}

/** Sorted, without pools that have no rules, and with the same order of fields, so that two requests can be compared. */
function inOrder(request: readonly PoolAlerts[]): PoolAlerts[] {
  return request
    .filter(({ lowBalances, topUp }) => lowBalances !== null || topUp !== null)
    .map(({ pool, lowBalances, topUp }): PoolAlerts => {
      const rule = topUp && { below: topUp.below, credits: topUp.credits, monthlyMax: topUp.monthlyMax };
      return { pool, lowBalances: lowBalances?.toSorted((a, b) => b - a) ?? null, topUp: rule };
    })
    .sort((a, b) => a.pool - b.pool);
}
