import type { FeatureId, Instant, MemberId, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";
import { type Alerts, NO_ALERTS } from "./alerts.ts";
import type { Cost, Limit } from "./catalog.ts";
import type { PeriodKind } from "./period.ts";

/** Everything a decision needs to know about one customer. Read and written as one row, under one lock. */
export type Wallet = {
  /** Sequence of the last ledger entry, or 0 if there are no entries. */
  readonly sequence: number;
  /** Time of the last decision. No later decision is dated earlier, even if the clock steps back. */
  readonly decidedAt: Instant;
  readonly isBlocked: boolean;
  /** Number of grants, assignments and overrides created so far. Each kind is numbered within the wallet. */
  readonly grantCount: number;
  readonly assignmentCount: number;
  readonly overridesCount: number;
  readonly assignment: Assignment | null;
  /** In burn order. A spent grant is removed, except an allowance, which is kept until it expires. */
  readonly grants: readonly Grant[];
  /** Plans the customer left during a period. They resume with their remaining allowance. */
  readonly paused: readonly PausedPlan[];
  /** Time of the latest billing event that set or ended a plan. Older events are ignored. Null if no event had a time. */
  readonly planAsOf: Instant | null;
  /** The event at `planAsOf`, or a later call without a time. Ranks events with the same time. */
  readonly planEvent: PlanEvent;
  /** The pending plan change, or null. */
  readonly next: NextPlan | null;
  /** The customer's own terms, which take precedence over the terms of any plan. Null if there are none. */
  readonly overrides: Overrides | null;
  /** Counters of limits set by overrides. */
  readonly ownCounters: readonly OwnCounter[];
  /** Number of holds opened so far, and of changes to holds. Both are numbered within the wallet. */
  readonly holdCount: number;
  readonly holdChanges: number;
  readonly openHolds: number;
  /** Credits that open holds set aside, by grant. They are part of the balance in the ledger, but not of any grant. */
  readonly held: readonly HeldCredits[];
  /** Open holds, stored in separate rows. Contains at least the holds that end by `holdsUntil`. No decision is dated after `holdsUntil`. */
  readonly holds: readonly Hold[];
  readonly holdsUntil: number;
  /** Balances and counters that caused notices, where the current values are no longer the same. */
  readonly lows: readonly Low[];
  readonly peaks: readonly Peak[];
  readonly alerts: Alerts;
};

/** The lowest balance of a pool since its last grant, if a reversal has raised the balance since. -1 after overage was used. */
export type Low = { readonly pool: PoolId; readonly balance: number };

/** The highest use of a limit in its period, if a reversal or a hold has lowered the use since. */
export type Peak = {
  readonly feature: FeatureId;
  /** The assignment of a plan's counter, or the period of an override's counter. */
  readonly of: number | PeriodKind;
  readonly end: Instant | null;
  readonly used: number;
};

/**
 * - `cut`: an earlier end.
 * - `schedule`: a pending change.
 * - `manual`: the current plan was set by a later call that had no time.
 * - `closed`: no other event with the same time applies. The plan ended immediately, or the pending change was set by a later call
 *   that had no time.
 */
export type PlanEvent = "assign" | "cut" | "schedule" | "manual" | "closed";

export type GrantKind = "allowance" | "purchase" | "manual" | "promotion";

export type Grant = {
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly remaining: number;
  /** Exclusive: the credits are usable before this moment, but not at it. Null if they never expire. */
  readonly expiresAt: Instant | null;
};

export type Assignment = {
  /** Kept when a paused plan resumes. */
  readonly number: number;
  readonly plan: PlanId;
  readonly version: PlanVersionId;
  readonly anchor: Instant;
  readonly endsAt: Instant | null;
  /** True if the customer has this plan as the environment's default plan, not by assignment. */
  readonly isDefault: boolean;
  /** The last allowance granted in each pool. */
  readonly allowances: readonly GrantedAllowance[];
  readonly counters: readonly LimitCounter[];
};

export type GrantedAllowance = {
  readonly pool: PoolId;
  /** End of the period the allowance was granted for. Null for a one-time allowance. */
  readonly end: Instant | null;
  readonly grant: number;
  /** The credits of the grant if none had been used. The used credits are `base - remaining`. */
  readonly base: number;
  /** The credits that overrides granted, which a new plan version does not change. Null if the plan's credits were granted. */
  readonly own: number | null;
  /** Overage used, and overage set aside by open holds, in the allowance's period. Neither is part of any balance. */
  readonly overageUsed: number;
  readonly overageHeld: number;
};

/** How much of a limit is used. Ignored after its period has ended. */
export type LimitCounter = {
  readonly feature: FeatureId;
  readonly end: Instant | null;
  readonly used: number;
  /** The first ledger entry that the counter includes. `used` is the sum of the quantities in this entry and all later entries. */
  readonly fromSequence: number;
  /** The first hold that the counter includes, regardless of when the hold is settled. */
  readonly fromHold: number;
};

/** How much of an override's limit is used. Counts charges under all plans, starting at `fromSequence`. */
export type OwnCounter = LimitCounter & {
  readonly period: PeriodKind;
  /** The charges that the plan's counter had counted when the limit was set. Null if the plan had no limit with this period. */
  readonly earlier: {
    readonly assignment: number;
    readonly fromSequence: number;
    readonly fromHold: number;
  } | null;
};

export type PausedPlan = {
  readonly assignment: Assignment;
  readonly leftAt: Instant;
  /** The remaining allowances. Not part of any balance. */
  readonly grants: readonly Grant[];
};

/** A plan that starts later. It takes effect like an assignment made at `startsAt`. */
export type NextPlan = {
  readonly plan: PlanId;
  readonly startsAt: Instant;
  readonly endsAt: Instant | null;
  /** Unused if an earlier period of the plan has not ended at `startsAt`, because that period keeps its anchor. */
  readonly anchor: Instant;
  /** Allows an end before the end that the same plan has at `startsAt`. */
  readonly shorten: boolean;
};

/** Terms for one customer. Every change creates a new number, so that a charge can name the terms that priced it. */
export type Overrides = OverrideTerms & { readonly number: number };

export type OverrideTerms = {
  /** Sorted by feature. */
  readonly features: readonly FeatureOverride[];
  /** Sorted by pool. They apply to periods that begin while the overrides are in force. */
  readonly allowances: readonly AllowanceOverride[];
  /** Exclusive. */
  readonly endsAt: Instant | null;
};

export type FeatureOverride = {
  readonly feature: FeatureId;
  /** Whether the override includes or excludes the feature. Null if the plan decides. */
  readonly included: boolean | null;
  /** The overridden cost. Null for the plan's cost. */
  readonly cost: Cost | null;
  /** The overridden limit. Null for no limit, undefined for the plan's limit. */
  readonly limit: OwnLimit | null | undefined;
  /** The feature's pool and cost when it was included, for plans that do not include it. Null unless `included` is true. */
  readonly added: { readonly pool: PoolId; readonly cost: Cost } | null;
};

/** Periods are counted from the anchor, which a plan change does not affect. */
export type OwnLimit = Limit & { readonly anchor: Instant };

/** Overrides the credits or overage of the pool's allowance, if the allowance has this period. */
export type AllowanceOverride = {
  readonly pool: PoolId;
  readonly period: PeriodKind;
  /** The overridden credits. Null for the plan's credits. */
  readonly credits: number | null;
  /** The overridden overage. Null for unlimited overage, undefined for the plan's overage. A change applies immediately. */
  readonly overage: number | null | undefined;
};

export type HeldCredits = {
  readonly grant: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly expiresAt: Instant | null;
  readonly credits: number;
  /** How many of these credits were revoked. They are removed when the hold ends, unless the hold spends them. */
  readonly revoked: number;
};

/** Credits set aside for work whose cost is not known yet, on the terms in force when the hold was opened. */
export type Hold = {
  readonly number: number;
  readonly openedAt: Instant;
  /** Exclusive: at this time, the hold has ended. */
  readonly expiresAt: Instant;
  readonly onExpiry: "release" | "charge";
  /** The member named by the request. Recorded with the charges; it does not affect decisions. */
  readonly memberId: MemberId | null;
  readonly planVersion: PlanVersionId;
  readonly assignment: number;
  readonly items: readonly HeldItem[];
};

export type HeldItem = {
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly pool: PoolId;
  readonly cost: Cost;
  /** Identifies the customer's overrides that change the feature. Null if none do. */
  readonly overrides: number | null;
  /** The limit in force, which extensions must respect. `own` is the limit's period if an override set the limit, otherwise null. */
  readonly limit: { readonly quantity: number; readonly own: PeriodKind | null } | null;
  /** In the order in which they are spent. */
  readonly parts: readonly HeldPart[];
  /** Overage that is held. */
  readonly overage: readonly OveragePart[];
};

/** Credits of one grant. A revocation splits parts, so that a hold can have several parts from the same grant. */
export type HeldPart = { readonly grant: number; readonly credits: number; readonly isRevoked: boolean };

/** Credits used or held as overage. They are counted with the allowance that has this grant. */
export type OveragePart = { readonly grant: number; readonly credits: number };

export const OPEN_GRANTS_MAX = 50;
export const OPEN_HOLDS_MAX = 1_000;
export const BALANCE_MAX = Number.MAX_SAFE_INTEGER;

/**
 * Reserved for allowances, so that a new period is never rejected. 50 pools with 13 allowances each (12 of them rolled
 * over) of 10^12 credits use less than a third of this room.
 */
const ROOM_FOR_ALLOWANCES = 2 ** 51;

/** Whether added or returned credits fit. Counts the credits of all pools, except allowances. */
export function hasRoomFor({ grants, held }: Pick<Wallet, "grants" | "held">, credits: number): boolean {
  let total = credits;
  for (const { kind, remaining } of grants) if (kind !== "allowance") total += remaining;
  for (const { kind, credits: set } of held) if (kind !== "allowance") total += set;
  return total <= BALANCE_MAX - ROOM_FOR_ALLOWANCES;
}

export function newWallet(now: Instant): Wallet {
  return {
    sequence: 0,
    decidedAt: now,
    isBlocked: false,
    grantCount: 0,
    assignmentCount: 0,
    overridesCount: 0,
    assignment: null,
    grants: [],
    paused: [],
    planAsOf: null,
    planEvent: "assign",
    next: null,
    overrides: null,
    ownCounters: [],
    holdCount: 0,
    holdChanges: 0,
    openHolds: 0,
    held: [],
    holds: [],
    holdsUntil: Number.POSITIVE_INFINITY,
    lows: [],
    peaks: [],
    alerts: NO_ALERTS,
  };
}

/** The credits of a pool that can be spent. */
export function balanceOf(wallet: Pick<Wallet, "grants">, pool: PoolId): number {
  let balance = 0;
  for (const grant of wallet.grants) if (grant.pool === pool) balance += grant.remaining;
  return balance;
}

/** The credits of a pool that open holds set aside. */
export function heldIn({ held }: Pick<Wallet, "held">, pool: PoolId): number {
  let credits = 0;
  for (const other of held) if (other.pool === pool) credits += other.credits;
  return credits;
}

/** The balance of a pool in the ledger, which includes held credits. */
export const ledgerBalanceOf = (wallet: Pick<Wallet, "grants" | "held">, pool: PoolId): number =>
  balanceOf(wallet, pool) + heldIn(wallet, pool);

/** The credits of a grant that open holds set aside. */
export function heldOf(wallet: Pick<Wallet, "held">, grant: number): number {
  return findHeld(wallet, grant)?.credits ?? 0;
}

export function findHeld({ held }: Pick<Wallet, "held">, grant: number): HeldCredits | undefined {
  return held.find((other) => other.grant === grant);
}
