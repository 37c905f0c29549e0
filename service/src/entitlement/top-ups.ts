import { brandAs, type Instant, type PoolId } from "../primitives/brand.ts";
import {
  type Alerts,
  DOUBLINGS_MAX,
  type OpenTopUp,
  type PoolTopUps,
  REPEAT_AFTER_MS,
  type TopUpRule,
} from "./alerts.ts";
import { type Catalog, getPool } from "./catalog.ts";
import type { NewGrant, Notice } from "./entry.ts";
import { periodAt } from "./period.ts";
import { ledgerBalanceOf, type Wallet } from "./wallet.ts";

/**
 * Which requests a change may make. Usage opens requests in every pool, and a new rule only in its own: a revocation, a refund or the end
 * of a plan must not charge a card. Every other change only repeats an open request.
 */
export type TopUpMode = "open" | "repeat" | ReadonlySet<PoolId>;

type Requested = { readonly alerts: Alerts; readonly notices: readonly Notice[] };

/**
 * Closes the requests that these purchases pay for, then requests top-ups. Nothing is requested for customers who are blocked or have no
 * assigned plan: they could not use the credits, or their subscription has ended.
 */
export function requestTopUps(
  catalog: Catalog,
  wallet: Wallet,
  grants: readonly NewGrant[],
  mode: TopUpMode,
): Requested {
  const { alerts, decidedAt: now } = wallet;
  if (alerts.topUps.length + alerts.pools.length === 0) return { alerts, notices: [] };
  const closed = closeBought(alerts, grants);
  if (!catalog.noticeTypes.has("topup.due")) return { alerts: closed, notices: [] };
  let after = closed;
  const notices: Notice[] = [];
  for (const { pool, topUp: rule } of closed.pools) {
    if (rule === null || !needsTopUp(wallet, pool, rule)) continue;
    const open = nextRequest(after, { pool, rule, mode }, now);
    if (open === null) continue;
    after = withRequest(after, pool, open, now);
    const { number, requestedAt, attempt } = open;
    const { below, credits } = rule;
    const { key } = getPool(catalog, pool);
    const balance = ledgerBalanceOf(wallet, pool);
    notices.push({
      type: "topup.due",
      ...{ pool: key, below, balance, credits },
      topUp: { number, requestedAt },
      attempt,
      effectiveAt: now,
    });
  }
  return { alerts: after, notices };
}

/** Whether the balance is below the rule, and the customer could use the credits and has not canceled. */
export function needsTopUp(
  wallet: Pick<Wallet, "isBlocked" | "assignment" | "grants" | "held">,
  pool: PoolId,
  { below }: TopUpRule,
): boolean {
  const { isBlocked, assignment } = wallet;
  return !isBlocked && assignment !== null && !assignment.isDefault && ledgerBalanceOf(wallet, pool) < below;
}

/** Whether a request is due although nothing else has changed, for example because a day has passed. */
export function isTopUpDue(catalog: Catalog, wallet: Wallet, now: Instant, mode: TopUpMode): boolean {
  if (wallet.alerts.pools.length === 0) return false;
  return requestTopUps(catalog, { ...wallet, decidedAt: now }, [], mode).notices.length > 0;
}

/** When an open request of a customer may be repeated. Null if none is open. */
export function topUpDueAt({ pools, topUps }: Alerts, now: Instant): Instant | null {
  let dueAt: Instant | null = null;
  for (const { pool, topUp: rule } of pools) {
    const open = rule && topUps.find((other) => other.pool === pool)?.open;
    if (open == null) continue;
    const at = lookAgainAt(open, now);
    if (dueAt === null || at < dueAt) dueAt = at;
  }
  return dueAt;
}

/** How many top-ups were requested in the month that contains `now`. */
export function requestsInMonth(topUps: PoolTopUps | undefined, now: Instant): number {
  return topUps?.month === monthStart(now) ? topUps.requests : 0;
}

/** The earliest time of the next attempt. */
export function repeatAt({ askedAt, attempt }: Pick<OpenTopUp, "askedAt" | "attempt">): Instant {
  return brandAs<Instant>(askedAt + REPEAT_AFTER_MS * 2 ** Math.min(attempt - 1, DOUBLINGS_MAX));
}

type Ruled = { readonly pool: PoolId; readonly rule: TopUpRule; readonly mode: TopUpMode };

/** The open request after a request or repeat. Null if it is too early for a repeat, or if no requests are left this month. */
function nextRequest(
  { topUps, topUpCount }: Alerts,
  { pool, rule, mode }: Ruled,
  now: Instant,
): OpenTopUp | null {
  const known = topUps.find((other) => other.pool === pool);
  const open = known?.open ?? null;
  const { credits } = rule;
  if (open !== null) {
    if (now < repeatAt(open)) return null;
    return { ...open, attempt: open.attempt + 1, askedAt: now, credits: Math.min(open.credits, credits) };
  }
  const mayOpen = mode === "open" || (mode !== "repeat" && mode.has(pool));
  if (!mayOpen || requestsInMonth(known, now) >= rule.monthlyMax) return null;
  return { number: topUpCount + 1, requestedAt: now, attempt: 1, askedAt: now, credits };
}

/**
 * Only the first attempt takes a new number. A top-up counts in each month in which it is requested, because it may be paid in any of them.
 */
function withRequest(alerts: Alerts, pool: PoolId, open: OpenTopUp, now: Instant): Alerts {
  const known = alerts.topUps.find((other) => other.pool === pool);
  const month = monthStart(now);
  const isRepeat = open.attempt > 1;
  const isCounted = isRepeat && known?.month === month;
  const topUps = { pool, month, requests: requestsInMonth(known, now) + (isCounted ? 0 : 1), open };
  const others = alerts.topUps.filter((other) => other !== known);
  return {
    ...alerts,
    topUps: [...others, topUps].sort((a, b) => a.pool - b.pool),
    topUpCount: isRepeat ? alerts.topUpCount : alerts.topUpCount + 1,
  };
}

/** A purchase of fewer credits does not close the request, because the request's own payment may still be processing. */
function closeBought(alerts: Alerts, grants: readonly NewGrant[]): Alerts {
  const isBought = ({ pool, open }: PoolTopUps): boolean =>
    open !== null &&
    grants.some((grant) => grant.kind === "purchase" && grant.pool === pool && grant.credits >= open.credits);
  if (!alerts.topUps.some(isBought)) return alerts;
  const topUps = alerts.topUps.map((other) => (isBought(other) ? { ...other, open: null } : other));
  return { ...alerts, topUps };
}

/** When a job checks an open request. If a due request cannot be repeated, such as for a blocked customer, it checks again a day later. */
function lookAgainAt(open: OpenTopUp, now: Instant): Instant {
  const at = repeatAt(open);
  return at > now ? at : brandAs<Instant>(now + REPEAT_AFTER_MS);
}

const EPOCH = brandAs<Instant>(0);

/** Start of the calendar month, in UTC. */
function monthStart(now: Instant): Instant {
  return periodAt("month", EPOCH, now).start;
}
