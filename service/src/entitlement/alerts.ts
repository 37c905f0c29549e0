import type { Instant, PoolId } from "../primitives/brand.ts";

/** A customer's custom thresholds, top-up rules, and the top-ups requested so far. */
export type Alerts = {
  /** The rules. Sorted by pool. */
  readonly pools: readonly PoolAlerts[];
  /** One for each pool in which a top-up was requested. Kept without a rule, so that a new rule continues the month's count. */
  readonly topUps: readonly PoolTopUps[];
  /** Number of top-ups requested so far. They are numbered within the wallet, so that an ID is never used twice. */
  readonly topUpCount: number;
};

export type PoolAlerts = {
  readonly pool: PoolId;
  /** Replace the pool's thresholds. Sorted, highest first. Null for the pool's thresholds. */
  readonly lowBalances: readonly number[] | null;
  /** Null if no top-ups are requested. */
  readonly topUp: TopUpRule | null;
};

/** If the balance is below `below`, request a top-up of `credits`, for at most `monthlyMax` top-ups in a calendar month (UTC). */
export type TopUpRule = { readonly below: number; readonly credits: number; readonly monthlyMax: number };

export type PoolTopUps = {
  readonly pool: PoolId;
  /** Start of the month of the last request or repeat. */
  readonly month: Instant;
  /** How many top-ups were requested in that month. A top-up that is repeated in another month counts in both. */
  readonly requests: number;
  readonly open: OpenTopUp | null;
};

/** A request that no purchase has closed yet. Kept while its rule is removed, because its payment may still be processed. */
export type OpenTopUp = {
  readonly number: number;
  readonly requestedAt: Instant;
  /** Number of attempts, and the time of the last one. */
  readonly attempt: number;
  readonly askedAt: Instant;
  /** The smallest number of credits that was requested. A smaller purchase does not close the request. */
  readonly credits: number;
};

export const NO_ALERTS: Alerts = { pools: [], topUps: [], topUpCount: 0 };

/** Maximum number of pools with rules. Every charge writes the whole wallet. */
export const ALERT_POOLS_MAX = 20;

/** Time until the first repeat. It doubles with each repeat, because banks limit how often a declined card may be charged. */
export const REPEAT_AFTER_MS = 86_400_000;
/** The longest time between two attempts is 32 days. */
export const DOUBLINGS_MAX = 5;
