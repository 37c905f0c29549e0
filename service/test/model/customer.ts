import type { PlanVersion } from "../../src/entitlement/catalog.ts";
import type { GrantKind } from "../../src/entitlement/wallet.ts";
import type { FeatureId, PlanId, PoolId } from "../../src/primitives/brand.ts";

// What the model remembers of a customer. Nothing is moved or merged away that could be looked up: a plan that was left
// is a plan that is not the active one, and a limit's use is the sum of what was consumed.

export type Customer = {
  /** The moment up to which everything due was applied. */
  now: number;
  isBlocked: boolean;
  plan: PlanTaken | null;
  /** Plans left, each as it was. */
  left: PlanTaken[];
  grants: CreditGrant[];
  /** In the order in which they were added: where each of them went. */
  additions: { grant: number; index: number }[];
  consumes: Consume[];
  plansTaken: number;
  /** The time of the latest billing event that an assignment or an end named. */
  planAsOf: number | null;
  /** Whether one of that time ended or shortened the plan. */
  isPlanCut: boolean;
  grantsMade: number;
};

export type PlanTaken = {
  number: number;
  plan: PlanId;
  version: PlanVersion;
  anchor: number;
  endsAt: number | null;
  isDefault: boolean;
  /** Since when it is not the active plan; cleared once what was missed is made up for. */
  leftAt: number | null;
  /** The current period of each pool's allowance, and the grant it brought. */
  periods: AllowancePeriod[];
  counters: Counter[];
};

export type AllowancePeriod = { pool: PoolId; end: number | null; grant: number };

/** Which consumes count against a limit, by their place in `consumes`. */
export type Counter = { feature: FeatureId; end: number | null; consumes: number[] };

export type CreditGrant = {
  id: number;
  pool: PoolId;
  kind: GrantKind;
  /** The plan taken, by its number, whose allowance it is. Usable only while that is the active plan. */
  allowanceOf: number | null;
  givenAt: number;
  expiresAt: number | null;
  remaining: number;
  /** Used or revoked. */
  gone: number;
  /** The version changed to one without this pool. */
  isDropped: boolean;
  /** What was added, in order; later additions of the same kind and expiry join an open grant. */
  additions: Addition[];
};

export type Addition = { credits: number; isRevoked: boolean };

export type Consume = {
  feature: FeatureId;
  pool: PoolId;
  quantity: number;
  reversed: number;
  version: PlanVersion;
  /** In burn order, without what was given back. */
  parts: { grant: number; credits: number }[];
};

export function newCustomer(now: number): Customer {
  return {
    now,
    isBlocked: false,
    plan: null,
    left: [],
    grants: [],
    additions: [],
    consumes: [],
    plansTaken: 0,
    planAsOf: null,
    isPlanCut: false,
    grantsMade: 0,
  };
}

/** Deep where the model writes; published versions are shared, as nobody writes them. */
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
    })),
  };
}

function copyOfPlan(plan: PlanTaken): PlanTaken {
  return {
    ...plan,
    periods: plan.periods.map((period) => ({ ...period })),
    counters: plan.counters.map((counter) => ({ ...counter, consumes: [...counter.consumes] })),
  };
}

/** Half-open: at its end it is over. */
export function isOver(end: number | null, now: number): boolean {
  return end !== null && end <= now;
}

export function isSpendable(customer: Customer, grant: CreditGrant): boolean {
  if (isOver(grant.expiresAt, customer.now) || grant.isDropped) return false;
  return grant.allowanceOf === null || grant.allowanceOf === customer.plan?.number;
}

/** Soonest expiry first, none last; then given before bought; then oldest. Spent ones are not listed. */
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

export function usedOf(customer: Customer, feature: FeatureId): number {
  const counter = customer.plan?.counters.find(
    (it) => it.feature === feature && !isOver(it.end, customer.now),
  );
  return (counter?.consumes ?? []).reduce((sum, at) => {
    const consume = customer.consumes[at];
    return sum + (consume === undefined ? 0 : consume.quantity - consume.reversed);
  }, 0);
}
