import type { FeatureId, Instant, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";

/** All that a decision needs to know about one customer. Read and written as one row, under one lock. */
export type Wallet = {
  /** Of the last ledger entry; 0 before the first. */
  readonly sequence: number;
  /** No decision is made before this moment, whatever a clock says. */
  readonly decidedAt: Instant;
  readonly isBlocked: boolean;
  /** How many grants and assignments there have been: their numbers are counted within the wallet. */
  readonly grantCount: number;
  readonly assignmentCount: number;
  readonly assignment: Assignment | null;
  /** In burn order. Spent ones leave, but for those of an allowance, which stay until they expire. */
  readonly grants: readonly Grant[];
  /** Plans left within a period: taken up again, they go on where they were. */
  readonly paused: readonly PausedPlan[];
  /** Time of the latest billing event that set or ended a plan: what an older one says comes too late. Null: none said. */
  readonly planAsOf: Instant | null;
  /** A billing event of that time ended or shortened the plan: one of the same time does not start or extend it any more. */
  readonly isPlanCut: boolean;
};

export type GrantKind = "allowance" | "purchase" | "manual" | "promotion";

export type Grant = {
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly remaining: number;
  /** Usable before this moment, not at it. Null: no end. */
  readonly expiresAt: Instant | null;
};

export type Assignment = {
  /** Kept when a paused plan is taken up again. */
  readonly number: number;
  readonly plan: PlanId;
  readonly version: PlanVersionId;
  readonly anchor: Instant;
  readonly endsAt: Instant | null;
  /** Nobody assigned it: it is the environment's default. */
  readonly isDefault: boolean;
  /** What was granted last for each pool. */
  readonly allowances: readonly GrantedAllowance[];
  readonly counters: readonly LimitCounter[];
};

export type GrantedAllowance = {
  readonly pool: PoolId;
  /** The period it was granted for; no end for an allowance that comes once. */
  readonly end: Instant | null;
  readonly grant: number;
  /** What the grant would hold had nothing been used: used is `base - remaining`. */
  readonly base: number;
};

/** How much of a limit is used. A counter whose period has ended counts for nothing. */
export type LimitCounter = {
  readonly feature: FeatureId;
  readonly end: Instant | null;
  readonly used: number;
  /** The ledger entry it began with: used is the sum of quantities from there on. */
  readonly fromSequence: number;
};

export type PausedPlan = {
  readonly assignment: Assignment;
  readonly leftAt: Instant;
  /** What was left of its allowances. Not part of any balance. */
  readonly grants: readonly Grant[];
};

export const OPEN_GRANTS_MAX = 50;
export const BALANCE_MAX = Number.MAX_SAFE_INTEGER;

/**
 * Room for what plans give, so that no new period is ever refused: 50 pools with 13 allowances each, the rolled-over ones
 * included, of 10^12 credits are less than a third of it.
 */
const ROOM_FOR_ALLOWANCES = 2 ** 51;

/** Whether credits that are added or come back fit beside those that were bought or given, of all pools together. */
export function hasRoomFor({ grants }: Pick<Wallet, "grants">, credits: number): boolean {
  let held = credits;
  for (const { kind, remaining } of grants) if (kind !== "allowance") held += remaining;
  return held <= BALANCE_MAX - ROOM_FOR_ALLOWANCES;
}

export function newWallet(now: Instant): Wallet {
  return {
    sequence: 0,
    decidedAt: now,
    isBlocked: false,
    grantCount: 0,
    assignmentCount: 0,
    assignment: null,
    grants: [],
    paused: [],
    planAsOf: null,
    isPlanCut: false,
  };
}

export function balanceOf(wallet: Pick<Wallet, "grants">, pool: PoolId): number {
  let balance = 0;
  for (const grant of wallet.grants) if (grant.pool === pool) balance += grant.remaining;
  return balance;
}
