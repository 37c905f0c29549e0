import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import { type Catalog, getFeatureKey, getPlan, getPool, getVersion } from "./catalog.ts";
import { dueAt } from "./due-at.ts";
import type { Change, Entry, HoldChange, Notice, NoticeDetails } from "./entry.ts";
import { limitPosition } from "./limits.ts";
import { findOverride } from "./overrides.ts";
import { requestTopUps, type TopUpMode } from "./top-ups.ts";
import { type Low, ledgerBalanceOf, type Peak, type Wallet } from "./wallet.ts";

/** A change whose notices have not been computed yet. */
type Made = Omit<Change, "notices" | "due">;

const NONE: readonly never[] = [];

/**
 * Adds the notices of a change. Balances include held credits, as in the ledger. A threshold is crossed once, however often
 * reversals raise the balance again: only a grant re-arms it. Likewise, reversals do not re-arm a limit within its period. The wallet
 * stores the lowest balances (`lows`) and highest counters (`peaks`) that its current values no longer show. If no webhook receives
 * notices, both stay empty.
 */
export function addNotices(catalog: Catalog, before: Wallet, made: Made, mode: TopUpMode): Change {
  const { alerts, notices: asked } = requestTopUps(catalog, made.wallet, made.grants, mode);
  const wallet = alerts === made.wallet.alerts ? made.wallet : { ...made.wallet, alerts };
  const isMoved = made.assignments.length > 0 || alerts !== before.alerts;
  const due = isMoved ? { at: dueAt(wallet, wallet.decidedAt) } : null;
  if (catalog.noticeTypes.size === 0) {
    const isClean = wallet.lows.length + wallet.peaks.length === 0;
    return { ...made, wallet: isClean ? wallet : { ...wallet, lows: NONE, peaks: NONE }, notices: NONE, due };
  }
  const falls = fallsOf(before, made.entries);
  const rises = risesOf(before, wallet);
  const notices = [
    ...planNotices(catalog, before, made),
    ...holdNotices(catalog, made),
    ...balanceNotices(catalog, wallet, falls),
    ...limitNotices(catalog, wallet, rises),
    ...asked,
  ];
  return {
    ...made,
    wallet: { ...wallet, lows: lowsOf(wallet, falls), peaks: peaksOf(rises) },
    notices: notices.filter(({ type }) => catalog.noticeTypes.has(type)),
    due,
  };
}

/** Whether a sweep, which writes only expiries, may record a notice. `next` is the wallet that the next request would see. */
export function isFinal(notice: Notice, next: Wallet, catalog: Catalog): boolean {
  // A sweep decides at the time of the expiry, but a top-up is requested now, so that it is not repeated too early.
  if (notice.type === "topup.due") return false;
  if (notice.type !== "balance.low" && notice.type !== "balance.depleted") return true;
  const pool = [...catalog.pools.values()].find(({ key }) => key === notice.pool);
  assert(pool !== undefined, "a pool is never deleted");
  return ledgerBalanceOf(next, pool.id) === notice.balance;
}

/** A balance below this threshold has no credits. */
const DEPLETED = 1;
/** The level of a balance when overage is used. The balance itself is never negative. */
const IN_OVERAGE = -1;

/** How a pool's balance changed. */
type Fall = {
  /** The highest balance from which a threshold may be crossed: at the start, or right after a grant. */
  readonly from: number;
  /** The lowest balance since the last grant. */
  readonly low: number;
  readonly at: Instant;
};

function fallsOf(before: Wallet, entries: readonly Entry[]): Map<PoolId, Fall> {
  const falls = new Map<PoolId, Fall>();
  for (const entry of entries) {
    const { kind, pool, amount, balanceAfter, effectiveAt: at } = entry;
    const start = (): number => findLow(before, pool) ?? balanceAfter - amount;
    const { from, low } = falls.get(pool) ?? { from: start(), low: start() };
    const level = kind === "consume" && (entry.usage?.overage.length ?? 0) > 0 ? IN_OVERAGE : balanceAfter;
    const isGrant = kind === "grant";
    falls.set(pool, {
      from: isGrant ? Math.max(from, level) : from,
      low: isGrant ? level : Math.min(low, level),
      at,
    });
  }
  return falls;
}

function findLow({ lows }: Wallet, pool: PoolId): number | undefined {
  return lows.find((low) => low.pool === pool)?.balance;
}

function lowsOf(wallet: Wallet, falls: ReadonlyMap<PoolId, Fall>): Low[] {
  const kept = wallet.lows.filter(({ pool }) => !falls.has(pool));
  const fallen = [...falls].map(([pool, { low }]): Low => ({ pool, balance: low }));
  return [...kept, ...fallen.filter(({ pool, balance }) => balance < ledgerBalanceOf(wallet, pool))];
}

function balanceNotices(catalog: Catalog, wallet: Wallet, falls: ReadonlyMap<PoolId, Fall>): Notice[] {
  return [...falls].flatMap(([id, { from, low, at: effectiveAt }]) => {
    const { key: pool, lowBalances: ofPool } = getPool(catalog, id);
    const lowBalances = wallet.alerts.pools.find((own) => own.pool === id)?.lowBalances ?? ofPool;
    const balance = ledgerBalanceOf(wallet, id);
    const isCrossed = (threshold: number): boolean => from >= threshold && low < threshold;
    const crossed: NoticeDetails[] = lowBalances
      .filter(isCrossed)
      .map((threshold) => ({ type: "balance.low", pool, threshold, balance }));
    if (isCrossed(DEPLETED)) crossed.push({ type: "balance.depleted", pool, balance });
    if (isCrossed(0)) crossed.push({ type: "overage.started", pool });
    return crossed.map((details) => ({ ...details, effectiveAt }));
  });
}

/** How a counter changed. `peak` is its highest value before the change. */
type Rise = Peak & { readonly before: number; readonly peak: number };

function risesOf(before: Wallet, wallet: Wallet): Rise[] {
  const earlier = countersOf(before);
  return countersOf(wallet).map((counter) => {
    const isSame = (other: Peak): boolean =>
      other.feature === counter.feature && other.of === counter.of && other.end === counter.end;
    const start = earlier.find(isSame)?.used ?? 0;
    const peak = Math.max(start, wallet.peaks.find(isSame)?.used ?? 0);
    return { ...counter, before: start, peak };
  });
}

/** All counters, including those of paused plans, which may resume. */
function countersOf({ assignment, paused, ownCounters }: Wallet): Peak[] {
  const plans = [...(assignment === null ? [] : [assignment]), ...paused.map((plan) => plan.assignment)];
  return [
    ...plans.flatMap(({ number: of, counters }) =>
      counters.map(({ feature, end, used }) => ({ feature, of, end, used })),
    ),
    ...ownCounters.map(({ feature, period: of, end, used }) => ({ feature, of, end, used })),
  ];
}

function peaksOf(rises: readonly Rise[]): Peak[] {
  return rises.flatMap(({ feature, of, end, used, peak }) =>
    peak > used ? [{ feature, of, end, used: peak }] : [],
  );
}

function limitNotices(catalog: Catalog, wallet: Wallet, rises: readonly Rise[]): Notice[] {
  const { assignment, overrides, decidedAt: effectiveAt } = wallet;
  if (assignment === null) return [];
  return rises.flatMap(({ feature, of, end, used, before, peak }): Notice[] => {
    if (used <= before) return [];
    const override = findOverride(overrides, feature);
    const inForce = override?.limit === undefined ? assignment.number : override.limit?.period;
    if (of !== inForce) return [];
    const planTerms = getVersion(catalog, assignment.version).features.get(feature);
    const position = limitPosition(wallet, { feature, planTerms, override }, effectiveAt);
    if (position === null || position.resetsAt !== end) return [];
    const { quantity: limit, resetsAt } = position;
    if (peak >= limit || used < limit) return [];
    return [
      { type: "limit.reached", feature: getFeatureKey(catalog, feature), limit, resetsAt, effectiveAt },
    ];
  });
}

/** An assigned plan has ended if no other assigned plan has replaced it. A customer's first plan is not a change. */
function planNotices(
  catalog: Catalog,
  { assignment: before, assignmentCount }: Wallet,
  { wallet: { assignment: after }, assignments }: Made,
): Notice[] {
  const keyOf = (plan: NonNullable<Wallet["assignment"]>["plan"]): string => getPlan(catalog, plan).key;
  const notices: Notice[] = [];
  const ended = assignments.findLast(({ kind, isDefault }) => kind === "ended" && !isDefault);
  if (ended !== undefined && after?.plan !== ended.plan && after?.isDefault !== false)
    notices.push({ type: "plan.ended", plan: keyOf(ended.plan), effectiveAt: ended.effectiveAt });
  const started = assignments.findLast(({ kind }) => kind === "started" || kind === "resumed");
  if (started !== undefined && assignmentCount > 0 && after !== null && after.plan !== before?.plan) {
    const previousPlan = before === null ? null : keyOf(before.plan);
    const { effectiveAt } = started;
    notices.push({ type: "plan.changed", plan: keyOf(after.plan), previousPlan, effectiveAt });
  }
  return notices;
}

function holdNotices(catalog: Catalog, { entries, holds }: Made): Notice[] {
  const notices = holds
    .filter(({ kind }) => kind === "expired" || kind === "charged")
    .map(({ kind, hold, effectiveAt }): Notice => {
      const charged = kind === "charged";
      return { type: "hold.expired", hold: nameOf(hold), charged, effectiveAt };
    });
  for (const { kind, hold: number, usage, effectiveAt } of entries) {
    if (kind !== "consume" || usage === null || usage.uncovered === 0) continue;
    const change = holds.find(({ hold }) => hold.number === number);
    assert(change !== undefined, "only a hold that ends in this change has an uncovered charge");
    const feature = getFeatureKey(catalog, usage.feature);
    const hold = nameOf(change.hold);
    notices.push({ type: "hold.uncovered", hold, feature, credits: usage.uncovered, effectiveAt });
  }
  return notices;
}

function nameOf({ number, openedAt }: HoldChange["hold"]): Pick<HoldChange["hold"], "number" | "openedAt"> {
  return { number, openedAt };
}
