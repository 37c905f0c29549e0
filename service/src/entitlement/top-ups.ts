import { brandAs, type Instant, type PoolId } from "../primitives/brand.ts";
import { type Alerts, type OpenTopUp, type PoolTopUps, REPEAT_AFTER_MS, type TopUpRule } from "./alerts.ts";
import { type Catalog, getPool } from "./catalog.ts";
import type { NewGrant, Notice } from "./entry.ts";
import { periodAt } from "./period.ts";
import { balanceOf, heldIn, type Wallet } from "./wallet.ts";

const NONE: readonly never[] = [];

type Requested = { readonly alerts: Alerts; readonly notices: readonly Notice[] };

/**
 * Closes the requests that a purchase answers, then requests top-ups. A purchase of any size closes a request, so a purchase that is too
 * small opens the next one. Customers who are blocked or have no plan could not use the credits, so nothing is requested for them.
 */
export function requestTopUps(catalog: Catalog, wallet: Wallet, grants: readonly NewGrant[]): Requested {
  const { alerts, isBlocked, assignment, decidedAt: now } = wallet;
  if (alerts.pools.length === 0) return { alerts, notices: NONE };
  const closed = closeBought(alerts, grants);
  if (!catalog.noticeTypes.has("topup.due") || isBlocked || assignment === null)
    return { alerts: closed, notices: NONE };
  let after = closed;
  const notices: Notice[] = [];
  for (const { pool, topUp: rule } of closed.pools) {
    const balance = balanceOf(wallet, pool) + heldIn(wallet, pool);
    if (rule === null || balance >= rule.below) continue;
    const open = nextRequest(after, { pool, rule }, now);
    if (open === null) continue;
    after = withRequest(after, pool, open, now);
    const { number, requestedAt, attempt } = open;
    const { below, credits } = rule;
    const { key } = getPool(catalog, pool);
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

/** Whether a request is due although nothing else has changed, for example because a day or a month has passed. */
export function isTopUpDue(catalog: Catalog, wallet: Wallet, now: Instant): boolean {
  if (wallet.alerts.pools.length === 0) return false;
  return requestTopUps(catalog, { ...wallet, decidedAt: now }, []).notices.length > 0;
}

/** When the next request of a customer may follow from the passing of time alone. Null if it cannot. */
export function topUpDueAt({ pools, topUps }: Alerts, now: Instant): Instant | null {
  let dueAt: Instant | null = null;
  for (const { pool, topUp: rule } of pools) {
    const known = rule === null ? undefined : topUps.find((other) => other.pool === pool);
    if (rule === null || known === undefined) continue;
    const at = known.open === null ? monthEnd(known, rule, now) : repeatAt(known.open, now);
    if (at !== null && (dueAt === null || at < dueAt)) dueAt = at;
  }
  return dueAt;
}

/** How many top-ups were requested in the month that contains `now`. */
export function requestsInMonth(topUps: PoolTopUps | undefined, now: Instant): number {
  return topUps?.month === monthAt(now).start ? topUps.requests : 0;
}

/** The open request after it is opened or repeated. Null if it is too early, or if the month has no requests left. */
function nextRequest(
  { topUps, topUpCount }: Alerts,
  { pool, rule }: { readonly pool: PoolId; readonly rule: TopUpRule },
  now: Instant,
): OpenTopUp | null {
  const known = topUps.find((other) => other.pool === pool);
  const open = known?.open ?? null;
  if (open !== null) {
    if (now < open.askedAt + REPEAT_AFTER_MS) return null;
    return { ...open, attempt: open.attempt + 1, askedAt: now };
  }
  if (requestsInMonth(known, now) >= rule.monthlyMax) return null;
  return { number: topUpCount + 1, requestedAt: now, attempt: 1, askedAt: now };
}

/** Only the first attempt counts in the month and takes a new number. */
function withRequest(alerts: Alerts, pool: PoolId, open: OpenTopUp, now: Instant): Alerts {
  const known = alerts.topUps.find((other) => other.pool === pool);
  const isRepeat = known !== undefined && open.attempt > 1;
  const topUps: PoolTopUps = isRepeat
    ? { ...known, open }
    : { pool, month: monthAt(now).start, requests: requestsInMonth(known, now) + 1, open };
  const others = alerts.topUps.filter((other) => other !== known);
  return {
    ...alerts,
    topUps: [...others, topUps].sort((a, b) => a.pool - b.pool),
    topUpCount: isRepeat ? alerts.topUpCount : alerts.topUpCount + 1,
  };
}

function closeBought(alerts: Alerts, grants: readonly NewGrant[]): Alerts {
  const isBought = ({ pool, open }: PoolTopUps): boolean =>
    open !== null && grants.some((grant) => grant.kind === "purchase" && grant.pool === pool);
  if (!alerts.topUps.some(isBought)) return alerts;
  const topUps = alerts.topUps.map((other) => (isBought(other) ? { ...other, open: null } : other));
  return { ...alerts, topUps };
}

/** A request that was due but not repeated waits for another reason, such as a blocked customer. A job looks again a day later. */
function repeatAt({ askedAt }: OpenTopUp, now: Instant): Instant {
  const at = askedAt + REPEAT_AFTER_MS;
  return brandAs<Instant>(at > now ? at : now + REPEAT_AFTER_MS);
}

/** When the next month begins, if no more top-ups are requested in this month. */
function monthEnd(topUps: PoolTopUps, { monthlyMax }: TopUpRule, now: Instant): Instant | null {
  return requestsInMonth(topUps, now) >= monthlyMax ? monthAt(now).end : null;
}

const EPOCH = brandAs<Instant>(0);

/** The calendar month, in UTC. */
function monthAt(now: Instant): ReturnType<typeof periodAt> {
  return periodAt("month", EPOCH, now);
}
