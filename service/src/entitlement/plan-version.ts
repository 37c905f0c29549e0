import { assert } from "../primitives/assert.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { type Catalog, getPlan, getVersion, type PlanVersion } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import { earlierOf, endAfter, type PeriodKind, periodAt } from "./period.ts";
import type { Assignment, GrantedAllowance, LimitCounter } from "./wallet.ts";

type DueVersion = { readonly version: PlanVersion; readonly at: Instant };

/** The first version that takes effect at or after `from`. If several take effect at the same time, returns the newest one. */
export function findDueVersion(catalog: Catalog, assignment: Assignment, from: Instant): DueVersion | null {
  const current = getVersion(catalog, assignment.version);
  let due: DueVersion | null = null;
  for (const version of newerVersions(catalog, current)) {
    if (version.reach === "new_assignments") continue;
    const earliest = brandAs<Instant>(Math.max(version.publishedAt, from));
    const at = version.reach === "now" ? earliest : boundaryFrom(current, assignment.anchor, earliest);
    if (due === null || at <= due.at) due = { version, at };
  }
  return due;
}

/** The version that took effect at a period boundary while the plan was paused. A resuming plan switches to it. */
export function findMissedVersion(
  catalog: Catalog,
  assignment: Assignment,
  from: Instant,
  to: Instant,
): PlanVersion | null {
  const current = getVersion(catalog, assignment.version);
  const kind = longestPeriod(current);
  const boundary = kind === null ? to : periodAt(kind, assignment.anchor, to).start;
  if (boundary <= from) return null;
  const isDue = ({ reach, publishedAt }: PlanVersion): boolean =>
    reach !== "new_assignments" && publishedAt <= boundary;
  return newerVersions(catalog, current).findLast(isDue) ?? null;
}

/**
 * Switches to another version of the same plan. The anchor, counters and usage are kept. The balance becomes the new allowance minus the
 * used credits. An allowance whose period ends at this moment is not adjusted, because its next period is granted afterward.
 */
export function switchVersion(draft: Draft, version: PlanVersion): void {
  const { assignment } = draft.wallet;
  assert(assignment !== null, "a version belongs to an assignment");
  const allowances = assignment.allowances.map((granted) =>
    granted.end !== null && granted.end <= draft.at ? granted : adjust(draft, assignment, granted, version),
  );
  const counters = assignment.counters.map((counter) => restamp(counter, assignment, version, draft.at));
  const next = { ...assignment, version: version.id, allowances, counters };
  draft.wallet = { ...draft.wallet, assignment: next };
  draft.noteAssignment("version_changed", next);
}

function adjust(
  draft: Draft,
  { anchor }: Assignment,
  granted: GrantedAllowance,
  version: PlanVersion,
): GrantedAllowance {
  const { pool, grant: number } = granted;
  const remaining = draft.wallet.grants.find((grant) => grant.number === number)?.remaining ?? 0;
  const used = granted.base - remaining;
  const allowance = version.allowances.find((other) => other.pool === pool);
  const period = allowance === undefined ? null : periodAt(allowance.period, anchor, draft.at);
  // The credits of an override belong to the period they were granted for.
  const own = period !== null && period.end !== granted.end ? null : granted.own;
  const target = allowance === undefined ? 0 : Math.max(0, (own ?? allowance.credits) - used);
  if (allowance !== undefined && period !== null) {
    const expiresAt = endAfter(allowance.period, anchor, period.start, allowance.rollover);
    draft.place({ number, pool, kind: "allowance", expiresAt });
  }
  const amount = target - remaining;
  const kind = amount > 0 ? "grant" : "expire";
  if (amount !== 0) draft.move({ kind, pool, parts: [{ grant: number, amount }] });
  // Keeps usage beyond the new allowance, so that switching back to the old version still counts that usage.
  const base = used + target;
  if (period !== null) return { ...granted, end: period.end, base, own };
  draft.remove(number);
  return { ...granted, base };
}

function restamp(
  counter: LimitCounter,
  { anchor }: Assignment,
  version: PlanVersion,
  at: Instant,
): LimitCounter {
  const limit = version.features.get(counter.feature)?.limit ?? null;
  if (limit === null || (counter.end !== null && counter.end <= at)) return counter;
  return { ...counter, end: periodAt(limit.period, anchor, at).end };
}

function newerVersions(catalog: Catalog, current: PlanVersion): readonly PlanVersion[] {
  const { versions } = getPlan(catalog, current.plan);
  // Shortcut for the usual case, because every decision checks for due versions.
  if (versions.at(-1) === current) return [];
  return versions.filter(({ number }) => number > current.number);
}

/** The first period boundary at or after `from`. Returns `from` for a plan without periods. */
function boundaryFrom(version: PlanVersion, anchor: Instant, from: Instant): Instant {
  const kind = longestPeriod(version);
  if (kind === null) return from;
  const { start, end } = periodAt(kind, anchor, from);
  return start === from || end === null ? from : end;
}

const BY_LENGTH = ["year", "month", "week", "day"] as const satisfies readonly PeriodKind[];

/**
 * The end of the plan's current period, or the end of the plan if that is sooner, so that the next plan starts without a gap. If allowances
 * renew at different intervals, the longest period is used. Null if no allowance renews.
 */
export function findPeriodEnd(catalog: Catalog, assignment: Assignment, at: Instant): Instant | null {
  const { version, anchor, endsAt } = assignment;
  const kind = longestAllowance(getVersion(catalog, version));
  if (kind === null) return null;
  return earlierOf(periodAt(kind, anchor, at).end, endsAt);
}

/** Whether all renewing allowances start a period at `at`. */
export function isBoundary({ allowances }: PlanVersion, anchor: Instant, at: Instant): boolean {
  return allowances.every(({ period }) => period === "once" || periodAt(period, anchor, at).start === at);
}

function longestAllowance({ allowances }: PlanVersion): Exclude<PeriodKind, "once"> | null {
  return BY_LENGTH.find((kind) => allowances.some(({ period }) => period === kind)) ?? null;
}

/** The interval that "next period" refers to: the longest allowance period or, if no allowance renews, the longest limit period. */
function longestPeriod(version: PlanVersion): Exclude<PeriodKind, "once"> | null {
  const longest = longestAllowance(version);
  if (longest !== null) return longest;
  const limits = new Set([...version.features.values()].map(({ limit }) => limit?.period));
  return BY_LENGTH.find((kind) => limits.has(kind)) ?? null;
}
