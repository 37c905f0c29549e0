import { brandAs, type Instant, type PoolId } from "../primitives/brand.ts";
import { type Allowance, type Catalog, getPlan, getVersion, latestVersion } from "./catalog.ts";
import { resetOf } from "./decide.ts";
import { overagePosition } from "./overage.ts";
import { allowanceCredits } from "./overrides.ts";
import { earlierOf } from "./period.ts";
import type { Assignment, Grant, Wallet } from "./wallet.ts";

// Forecasts when a customer's credits will be used up. Assumes that usage continues at its average, that credits expire on time, that no
// credits are added except by plans, and that all of a period's overage is used.

/**
 * - `unlimited`: overage is unlimited, so no request is denied for lack of credits.
 * - `not_used`: nothing was charged recently.
 * - `empty`: no credits are left.
 * - `renews`: the plan grants new credits before the credits are used up.
 * - `lasts`: the credits last longer than `FORECAST_DAYS_MAX` days.
 * - `runs_out`: the credits are used up at `emptyAt`.
 */
export type Forecast =
  | { readonly kind: "unlimited" | "not_used" | "lasts" }
  | { readonly kind: "empty"; readonly renewsAt: Instant | null }
  | { readonly kind: "renews"; readonly renewsAt: Instant }
  | { readonly kind: "runs_out"; readonly emptyAt: Instant; readonly renewsAt: Instant | null };

export const FORECAST_DAYS_MAX = 365;
const DAY_MS = 86_400_000;

type Position = {
  /** In burn order. */
  readonly grants: readonly Pick<Grant, "remaining" | "expiresAt">[];
  /** Null if unlimited. */
  readonly overage: number | null;
  /** When a plan grants the next credits. */
  readonly renewsAt: Instant | null;
};

/** `perDay` is the average number of credits charged per day. */
export function forecast({ grants, overage, renewsAt }: Position, perDay: number, now: Instant): Forecast {
  if (overage === null) return { kind: "unlimited" };
  if (overage === 0 && grants.every(({ remaining }) => remaining === 0)) return { kind: "empty", renewsAt };
  if (perDay <= 0) return { kind: "not_used" };
  const daysFor = (credits: number): number => (credits / perDay) * DAY_MS;
  let emptyAt: number = now;
  // A grant is used until it is spent or expires, whichever is first. Then the next grant is used.
  for (const { remaining, expiresAt } of grants)
    emptyAt = Math.min(
      emptyAt + daysFor(remaining),
      Math.max(emptyAt, expiresAt ?? Number.POSITIVE_INFINITY),
    );
  emptyAt += daysFor(overage);
  if (renewsAt !== null && renewsAt <= emptyAt) return { kind: "renews", renewsAt };
  if (emptyAt - now > FORECAST_DAYS_MAX * DAY_MS) return { kind: "lasts" };
  return { kind: "runs_out", emptyAt: brandAs<Instant>(Math.floor(emptyAt)), renewsAt };
}

/** The credits charged per day since `since`, or since the customer was created. A period of less than one day counts as one day. */
export function averagePerDay(
  credits: number,
  { since, createdAt, now }: { readonly since: Instant; readonly createdAt: Instant; readonly now: Instant },
): number {
  return credits / Math.max(1, (now - Math.max(since, createdAt)) / DAY_MS);
}

/** The forecast for one pool of a wallet that has no due changes. */
export function forecastPool(
  catalog: Catalog,
  wallet: Wallet,
  { pool, perDay }: { readonly pool: PoolId; readonly perDay: number },
  now: Instant,
): Forecast {
  const { assignment } = wallet;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
  const overage = overagePosition(wallet, version, pool);
  const grants = wallet.grants
    .filter((grant) => grant.pool === pool)
    .map(({ kind, remaining, expiresAt }) => ({
      remaining,
      expiresAt: kind === "allowance" ? earlierOf(expiresAt, assignment?.endsAt ?? null) : expiresAt,
    }));
  const renewsAt = renewalOf(catalog, wallet, pool);
  return forecast({ grants, overage: overage === null ? 0 : overage.remaining, renewsAt }, perDay, now);
}

/** When the customer's current, pending or default plan next grants credits in the pool. */
function renewalOf(catalog: Catalog, wallet: Wallet, pool: PoolId): Instant | null {
  const { assignment, next } = wallet;
  const grants = (allowance: Allowance): boolean =>
    allowance.pool === pool && (allowanceCredits(wallet, allowance) ?? allowance.credits) > 0;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
  const renewal = version?.allowances.some(grants) === true ? resetOf(wallet, version, pool) : null;
  const change = next?.startsAt ?? assignment?.endsAt ?? null;
  if (change === null || (renewal !== null && renewal < change)) return renewal;
  const plan = next?.plan ?? defaultAfter(catalog, assignment);
  const isGranted = plan !== null && latestVersion(getPlan(catalog, plan)).allowances.some(grants);
  return isGranted ? change : null;
}

/** The default plan, which follows an assigned plan. Null if no plan is assigned. */
function defaultAfter({ defaultPlan }: Catalog, assignment: Assignment | null) {
  return assignment === null || assignment.isDefault ? null : defaultPlan.plan;
}
