import type { PlanFeature, PlanVersion } from "../../src/entitlement/catalog.ts";
import type { PeriodKind } from "../../src/entitlement/period.ts";
import type { GrantKind, OverrideTerms } from "../../src/entitlement/wallet.ts";
import type { FeatureId, PlanId, PoolId } from "../../src/primitives/brand.ts";

// The model's state of a customer. The state stores facts and derives the rest: a plan that the customer has left is kept as it was,
// and the use of a limit is the sum of its charges.

export type Customer = {
  /** Everything due up to this time has been applied. */
  now: number;
  isBlocked: boolean;
  plan: PlanTaken | null;
  /** Plans that the customer has left, unchanged. */
  left: PlanTaken[];
  grants: CreditGrant[];
  /** The grant of each addition, in order. */
  additions: { grant: number; index: number }[];
  consumes: Consume[];
  /** The indexes of the charges in `consumes`, in order. */
  charges: number[];
  holds: HoldTaken[];
  plansTaken: number;
  grantsMade: number;
  next: ScheduledPlan | null;
  /** Billing events that were applied, and calls without a time that came after such an event. Later entries never have an earlier time. */
  heard: readonly Heard[];
  /** The customer's own terms. Null if there are none. */
  overrides: OverrideTerms | null;
  /** The limits of overrides. */
  watches: readonly Watch[];
};

export type Heard = {
  readonly asOf: number;
  readonly what: "assign" | "cut" | "schedule" | "manual" | "closed";
};

/** An override's limit and the charges it counts. It is kept while the limit is set, and until the end of its last period. */
export type Watch = {
  feature: FeatureId;
  period: PeriodKind;
  anchor: number;
  /** The index of the first charge that can be counted. */
  from: number;
  /** Earlier charges that are counted until `end`, because the plan's limit had counted them. */
  seed: { consumes: readonly number[]; end: number | null };
  /** When the limit is forgotten. Null while it is set. */
  stopsAt: number | null;
};

/** The pending plan change. A customer has at most one. */
export type ScheduledPlan = {
  plan: PlanId;
  startsAt: number;
  endsAt: number | null;
  anchor: number;
  shorten: boolean;
};

export type PlanTaken = {
  number: number;
  plan: PlanId;
  version: PlanVersion;
  anchor: number;
  endsAt: number | null;
  isDefault: boolean;
  /** When the customer left the plan. Cleared when the plan resumes, after missed changes have been applied. */
  leftAt: number | null;
  /** The current period of each pool's allowance, and its grant. */
  periods: AllowancePeriod[];
  counters: Counter[];
};

/** `own` is the amount that an override grants instead of the plan's amount, or null. */
export type AllowancePeriod = { pool: PoolId; end: number | null; grant: number; own: number | null };

/** The charges that a limit counts, by their index in `consumes`. */
export type Counter = { feature: FeatureId; end: number | null; consumes: number[] };

export type CreditGrant = {
  id: number;
  pool: PoolId;
  kind: GrantKind;
  /** The number of the plan that this allowance belongs to. Usable only while that plan is active. */
  allowanceOf: number | null;
  givenAt: number;
  expiresAt: number | null;
  remaining: number;
  /** Used or revoked credits. */
  gone: number;
  /** Credits that open holds set aside. They are neither remaining nor gone. */
  held: number;
  /** How many of the held credits were revoked. */
  heldRevoked: number;
  /** Whether the plan changed to a version without this pool. */
  isDropped: boolean;
  /** Additions in order. Additions of the same kind and expiry join an open grant. */
  additions: Addition[];
};

export type Addition = { credits: number; isRevoked: boolean };

/** One charge, or one item of a hold. A request with several items has one for each item. */
export type Consume = {
  /** The index in `charges` of the first charge of its request. */
  request: number;
  at: number;
  feature: FeatureId;
  pool: PoolId;
  quantity: number;
  reversed: number;
  /** The terms under which it was charged. */
  terms: PlanFeature;
  /** In burn order, without returned credits. */
  parts: Paid[];
  /** The part of the price that nothing covered. */
  uncovered: number;
  /** Overage used or held, by the grant of the period. */
  overage: Paid[];
};

/** `isRevoked` is set only for held credits. */
export type Paid = { grant: number; credits: number; isRevoked?: boolean };

export type HoldTaken = {
  openedAt: number;
  expiresAt: number;
  onExpiry: "release" | "charge";
  /** `freed` or `charged` on expiry, `closed` by a request. */
  state: "open" | "freed" | "charged" | "closed";
  /** The number of the plan on which the hold was opened. */
  plan: number;
  /** `consume` is an index in `consumes`, `held` the held quantity. */
  uses: { consume: number; held: number; limit: HeldLimit | null }[];
};

/** The limit of an item when the hold was opened. */
export type HeldLimit = { quantity: number; own: PeriodKind | null };

export function newCustomer(now: number): Customer {
  return {
    now,
    isBlocked: false,
    plan: null,
    left: [],
    grants: [],
    additions: [],
    consumes: [],
    charges: [],
    holds: [],
    plansTaken: 0,
    grantsMade: 0,
    next: null,
    heard: [],
    overrides: null,
    watches: [],
  };
}

/** A deep copy, except for published versions, which never change. */
export function copyOf(customer: Customer): Customer {
  return {
    ...customer,
    plan: customer.plan === null ? null : copyOfPlan(customer.plan),
    left: customer.left.map(copyOfPlan),
    grants: customer.grants.map((grant) => ({
      ...grant,
      additions: grant.additions.map((addition) => ({ ...addition })),
    })),
    additions: [...customer.additions],
    consumes: customer.consumes.map((consume) => ({
      ...consume,
      parts: consume.parts.map((part) => ({ ...part })),
      overage: consume.overage.map((part) => ({ ...part })),
    })),
    charges: [...customer.charges],
    holds: customer.holds.map((hold) => ({ ...hold })),
  };
}

function copyOfPlan(plan: PlanTaken): PlanTaken {
  return {
    ...plan,
    periods: plan.periods.map((period) => ({ ...period })),
    counters: plan.counters.map((counter) => ({ ...counter, consumes: [...counter.consumes] })),
  };
}

/** Whether a period is over. Periods are half-open: at `end` they are over. */
export function isOver(end: number | null, now: number): boolean {
  return end !== null && end <= now;
}

export function isSpendable(customer: Customer, grant: CreditGrant): boolean {
  if (isOver(grant.expiresAt, customer.now) || grant.isDropped) return false;
  return grant.allowanceOf === null || grant.allowanceOf === customer.plan?.number;
}

/** Open grants in spending order. Credits that expire first are spent first. Ties: free before purchased, then oldest first. */
export function burnList(customer: Customer): CreditGrant[] {
  const never = Number.POSITIVE_INFINITY;
  const order = (grant: CreditGrant): [number, number, number] => [
    grant.expiresAt ?? never,
    grant.kind === "purchase" ? 1 : 0,
    grant.id,
  ];
  return customer.grants
    .filter((grant) => grant.remaining > 0 && isSpendable(customer, grant))
    .sort((a, b) => {
      const [left, right] = [order(a), order(b)];
      const differs = left.findIndex((value, i) => value !== right[i]);
      return (left[differs] ?? 0) < (right[differs] ?? 0) ? -1 : 1;
    });
}

export function balanceIn(customer: Customer, pool: PoolId): number {
  return burnList(customer)
    .filter((grant) => grant.pool === pool)
    .reduce((sum, grant) => sum + grant.remaining, 0);
}
