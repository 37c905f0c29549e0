import type { FeatureKey, Instant, PoolId } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { unitsWithin } from "./buying-power.ts";
import { type Catalog, getPlan, getVersion } from "./catalog.ts";
import { applyDefaultPlan, catchUp } from "./catch-up.ts";
import { decide, type ItemDecision, type Reason, resetOf } from "./decide.ts";
import { Draft, decisionTime } from "./draft.ts";
import { overagePosition } from "./overage.ts";
import { balanceOf, heldIn, newWallet, type Wallet } from "./wallet.ts";

/** Maximum number of expiries listed for each pool. */
const EXPIRIES_MAX = 5;

export type CustomerView =
  | { readonly kind: "feature_not_found"; readonly feature: FeatureKey }
  | { readonly kind: "viewed"; readonly view: ReturnType<typeof describe> };

/**
 * Everything that a customer can use now: plan, credits and features, as shown in responses. Decides each feature like a check for
 * one unit.
 */
export function viewCustomer(
  catalog: Catalog,
  known: Wallet | null,
  features: readonly FeatureKey[],
  clock: Instant,
): CustomerView {
  const isUnknown = known === null && catalog.defaultPlan.plan === null;
  const draft = new Draft(catalog, known ?? newWallet(clock));
  const now = decisionTime(catalog, draft.wallet, clock);
  catchUp(catalog, draft, now);
  if (!isUnknown) applyDefaultPlan(catalog, draft);
  const { wallet } = draft;
  const decided: { item: ItemDecision; reason: Reason | null }[] = [];
  for (const feature of features) {
    const decision = decide(catalog, isUnknown ? null : wallet, [{ feature, quantity: 1 }], now, null);
    if (decision.kind === "feature_not_found") return decision;
    for (const item of decision.items) decided.push({ item, reason: decision.reason });
  }
  return { kind: "viewed", view: describe(catalog, wallet, decided) };
}

function describe(
  catalog: Catalog,
  wallet: Wallet,
  decided: readonly { readonly item: ItemDecision; readonly reason: Reason | null }[],
) {
  const { assignment } = wallet;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
  return {
    plan: describePlan(catalog, wallet),
    nextPlan: describeNext(catalog, wallet),
    pools: [...catalog.pools.values()].map(({ id, key }) => ({
      pool: key,
      balance: balanceOf(wallet, id),
      held: heldIn(wallet, id),
      overage: overagePosition(wallet, version, id),
      resetsAt: timeOrNull(resetOf(wallet, version, id)),
      nextExpiries: expiriesOf(wallet, id),
    })),
    features: decided.map(({ item, reason }) => {
      const { feature, pool, cost, before } = item;
      return {
        feature: feature.key,
        allowed: reason === null,
        reason,
        pool: pool.key,
        cost: { credits: cost.credits, per: cost.per },
        affordableQuantity: affordableQuantity(item, reason),
        limit: before?.limit ? { ...before.limit, resetsAt: timeOrNull(before.limit.resetsAt) } : null,
      };
    }),
  };
}

/** Null if neither a cost nor a limit restricts the quantity. */
function affordableQuantity({ cost, before }: ItemDecision, reason: Reason | null): number | null {
  const isAffordable = reason === null || reason === "limit_reached" || reason === "insufficient_credits";
  if (!isAffordable || before === null) return 0;
  const units = unitsWithin(cost, before);
  return Number.isFinite(units) ? units : null;
}

function describePlan(catalog: Catalog, { assignment }: Wallet) {
  if (assignment === null) return null;
  const { key, name } = getPlan(catalog, assignment.plan);
  const { number: version } = getVersion(catalog, assignment.version);
  const { isDefault, endsAt } = assignment;
  return { key, name, version, isDefault, endsAt: timeOrNull(endsAt) };
}

function describeNext(catalog: Catalog, { next }: Wallet) {
  if (next === null) return null;
  const { key, name } = getPlan(catalog, next.plan);
  return { key, name, startsAt: formatTimestamp(next.startsAt), endsAt: timeOrNull(next.endsAt) };
}

/** The pool's next expiry times, each with the number of credits that expire. */
function expiriesOf({ grants }: Wallet, pool: PoolId) {
  const credits = new Map<Instant, number>();
  for (const { pool: of, expiresAt, remaining } of grants)
    if (of === pool && expiresAt !== null && remaining > 0)
      credits.set(expiresAt, (credits.get(expiresAt) ?? 0) + remaining);
  return [...credits]
    .sort(([a], [b]) => a - b)
    .slice(0, EXPIRIES_MAX)
    .map(([expiresAt, expiring]) => ({ expiresAt: formatTimestamp(expiresAt), credits: expiring }));
}

function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : formatTimestamp(at);
}
