import type { FeatureId, Instant, PlanVersionId } from "../words/brand.ts";
import { isAhead } from "./assignment.ts";
import type { PlanVersion } from "./catalog.ts";
import type { Entry } from "./entry.ts";
import { type Period, periodAt } from "./period.ts";
import type { Assignment, LimitCounter, Wallet } from "./wallet.ts";

/** An assignment whose counters are watched, the present one or of a plan that was left. */
type Watched = {
  readonly assignment: Assignment;
  readonly tallies: readonly Tally[];
  /** The present period of each limit, where it was asked for; null: the plan has no such limit. */
  readonly periods: Map<FeatureId, Period | null>;
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
      periods: new Map(),
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
      if (!isCounted && kind === "consume" && this.#mustCount(watched, entry.effectiveAt, usage))
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
        const period = this.#periodOf(watched, feature);
        if (period !== null && period.end !== counter.end)
          return `the counter of feature ${feature} does not end with its period`;
      }
    }
    return null;
  }

  /** Within the present period and under the present version, every use of a limited feature counts. */
  #mustCount(
    watched: Watched,
    at: Instant,
    { feature, planVersion }: { readonly feature: FeatureId; readonly planVersion: PlanVersionId },
  ): boolean {
    if (planVersion !== watched.assignment.version) return false;
    const period = this.#periodOf(watched, feature);
    return period !== null && at >= period.start;
  }

  #periodOf({ assignment, periods }: Watched, feature: FeatureId): Period | null {
    const known = periods.get(feature);
    if (known !== undefined) return known;
    const limit = this.#versions.get(assignment.version)?.features.get(feature)?.limit ?? null;
    const period = limit === null ? null : periodAt(limit.period, assignment.anchor, this.#decidedAt);
    periods.set(feature, period);
    return period;
  }
}
