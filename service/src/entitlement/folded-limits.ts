import type { FeatureId, Instant, PlanVersionId } from "../primitives/brand.ts";
import type { PlanVersion } from "./catalog.ts";
import type { Entry, Usage } from "./entry.ts";
import { quantityHeld } from "./hold.ts";
import { isCountedBy } from "./limits.ts";
import { isAhead, type Period, periodAt } from "./period.ts";
import type { Assignment, LimitCounter, Wallet } from "./wallet.ts";

/** The assignment of the current plan or of a paused plan, with its counters. */
type Watched = {
  readonly assignment: Assignment;
  readonly tallies: readonly Tally[];
  /** By plan version and feature, filled on demand: the time from which charges must be counted. */
  readonly countedSince: Map<string, Instant | null>;
};

type Tally = { readonly counter: LimitCounter; used: number };

/**
 * A wallet's limit counters, recomputed from the ledger. Counters whose period has ended are ignored, because they may lack later charges.
 */
export class FoldedLimits {
  readonly #watched: readonly Watched[];
  readonly #decidedAt: Instant;
  readonly #versions: ReadonlyMap<PlanVersionId, PlanVersion>;

  constructor(wallet: Wallet, versions: ReadonlyMap<PlanVersionId, PlanVersion>) {
    const { decidedAt, assignment, paused, holds } = wallet;
    this.#decidedAt = decidedAt;
    this.#versions = versions;
    const left = paused.map((plan) => plan.assignment);
    this.#watched = (assignment === null ? left : [assignment, ...left]).map((watched) => ({
      assignment: watched,
      tallies: watched.counters
        .filter(({ end }) => isAhead(end, decidedAt))
        .map((counter) => ({
          counter,
          used: quantityHeld(
            holds,
            (charge) => charge.assignment === watched.number && isCountedBy(counter, charge),
          ),
        })),
      countedSince: new Map(),
    }));
  }

  add(entry: Entry): string | null {
    const { usage, sequence, kind, hold } = entry;
    if (usage === null) return null;
    for (const watched of this.#watched) {
      if (watched.assignment.number !== usage.assignment) continue;
      let isCounted = false;
      for (const tally of watched.tallies) {
        // A reversal is subtracted from the counter that counted its charge.
        const charge = { ...usage, hold, sequence: usage.reverses ?? sequence };
        if (!isCountedBy(tally.counter, charge)) continue;
        tally.used += kind === "consume" ? usage.quantity : -usage.quantity;
        isCounted = true;
      }
      // A hold is not counted if the period in which it was opened has ended.
      if (isCounted || kind !== "consume" || hold !== null) continue;
      const since = this.#countedSince(watched, usage);
      if (since !== null && entry.effectiveAt >= since)
        return `uses limited feature ${usage.feature}, but no counter in the wallet counts it`;
    }
    return null;
  }

  compare(): string | null {
    for (const watched of this.#watched) {
      for (const { counter, used } of watched.tallies) {
        const { feature } = counter;
        if (counter.used !== used)
          return `the counter of feature ${feature} is ${counter.used}, but ${used} according to its ledger`;
        const period = this.#currentPeriod(watched.assignment, feature);
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
    const isCounted = this.#isStillCounted(assignment, feature, planVersion);
    const since = (isCounted ? this.#currentPeriod(assignment, feature)?.start : null) ?? null;
    countedSince.set(key, since);
    return since;
  }

  /**
   * Whether a counter that started under `planVersion` can still be active. False if a later version had a limit with
   * another period, because the version change moved the counter's end.
   */
  #isStillCounted({ version }: Assignment, feature: FeatureId, planVersion: PlanVersionId): boolean {
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

  /** The current period of the feature's current limit. Null if the feature has no limit. */
  #currentPeriod({ version, anchor }: Assignment, feature: FeatureId): Period | null {
    const limit = this.#versions.get(version)?.features.get(feature)?.limit ?? null;
    return limit === null ? null : periodAt(limit.period, anchor, this.#decidedAt);
  }
}
