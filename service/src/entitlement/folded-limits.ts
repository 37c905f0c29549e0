import type { FeatureId, Instant, PlanVersionId } from "../primitives/brand.ts";
import { isAhead } from "./assignment.ts";
import type { PlanVersion } from "./catalog.ts";
import type { Entry, Usage } from "./entry.ts";
import { type Period, periodAt } from "./period.ts";
import type { Assignment, LimitCounter, Wallet } from "./wallet.ts";

/** An assignment whose counters are watched, the present one or of a plan that was left. */
type Watched = {
  readonly assignment: Assignment;
  readonly tallies: readonly Tally[];
  /** By plan version and feature, where it was asked for: since when uses must be counted. */
  readonly countedSince: Map<string, Instant | null>;
};

type Tally = { readonly counter: LimitCounter; used: number };

/**
 * What a ledger makes of a wallet's limit counters. One whose period has ended counts for nothing: what came after it
 * may not have been counted.
 */
export class FoldedLimits {
  readonly #watched: readonly Watched[];
  readonly #decidedAt: Instant;
  readonly #versions: ReadonlyMap<PlanVersionId, PlanVersion>;

  constructor({ decidedAt, assignment, paused }: Wallet, versions: ReadonlyMap<PlanVersionId, PlanVersion>) {
    this.#decidedAt = decidedAt;
    this.#versions = versions;
    const left = paused.map((plan) => plan.assignment);
    this.#watched = (assignment === null ? left : [assignment, ...left]).map((watched) => ({
      assignment: watched,
      tallies: watched.counters
        .filter(({ end }) => isAhead(end, decidedAt))
        .map((counter) => ({ counter, used: 0 })),
      countedSince: new Map(),
    }));
  }

  add(entry: Entry): string | null {
    const { usage, sequence, kind } = entry;
    if (usage === null) return null;
    for (const watched of this.#watched) {
      if (watched.assignment.number !== usage.assignment) continue;
      let isCounted = false;
      for (const tally of watched.tallies) {
        const { feature, fromSequence } = tally.counter;
        // A reversal is taken from the counter that counted its consume.
        if (feature !== usage.feature || (usage.reverses ?? sequence) < fromSequence) continue;
        tally.used += kind === "consume" ? usage.quantity : -usage.quantity;
        isCounted = true;
      }
      if (isCounted || kind !== "consume") continue;
      const since = this.#countedSince(watched, usage);
      if (since !== null && entry.effectiveAt >= since)
        return `is of limited feature ${usage.feature}, and no counter of the wallet counts it`;
    }
    return null;
  }

  compare(): string | null {
    for (const watched of this.#watched) {
      for (const { counter, used } of watched.tallies) {
        const { feature } = counter;
        if (counter.used !== used)
          return `the counter of feature ${feature} says ${counter.used}, its ledger ${used}`;
        const period = this.#presentPeriod(watched.assignment, feature);
        if (period !== null && period.end !== counter.end)
          return `the counter of feature ${feature} does not end with its period`;
      }
    }
    return null;
  }

  #countedSince({ assignment, countedSince }: Watched, { feature, planVersion }: Usage): Instant | null {
    const key = `${planVersion} ${feature}`;
    const known = countedSince.get(key);
    if (known !== undefined) return known;
    const isCounted = this.#isCountedStill(assignment, feature, planVersion);
    const since = (isCounted ? this.#presentPeriod(assignment, feature)?.start : null) ?? null;
    countedSince.set(key, since);
    return since;
  }

  /**
   * Whether a counter that began under a version is the one of today, if it is of today's period. It is, where no version
   * from then on had a limit with another period, which would have ended it sooner or later.
   */
  #isCountedStill({ version }: Assignment, feature: FeatureId, planVersion: PlanVersionId): boolean {
    const first = this.#versions.get(planVersion);
    const last = this.#versions.get(version);
    if (first === undefined || last === undefined || first.plan !== last.plan) return false;
    const period = first.features.get(feature)?.limit?.period;
    if (period === undefined) return false;
    for (const { plan, number, features } of this.#versions.values()) {
      if (plan !== first.plan || number < first.number || number > last.number) continue;
      if ((features.get(feature)?.limit?.period ?? period) !== period) return false;
    }
    return true;
  }

  /** Of the limit as it is now; null: there is none. */
  #presentPeriod({ version, anchor }: Assignment, feature: FeatureId): Period | null {
    const limit = this.#versions.get(version)?.features.get(feature)?.limit ?? null;
    return limit === null ? null : periodAt(limit.period, anchor, this.#decidedAt);
  }
}
