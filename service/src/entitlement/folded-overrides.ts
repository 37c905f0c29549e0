import type { FeatureId, Instant } from "../primitives/brand.ts";
import type { Entry, NewOverrides, Usage } from "./entry.ts";
import { quantityHeld } from "./hold.ts";
import { countsCharge } from "./limits.ts";
import { findOverride, isEmpty, isSame } from "./overrides.ts";
import { isAhead, periodAt } from "./period.ts";
import type { FeatureOverride, OwnCounter, OwnLimit, Wallet } from "./wallet.ts";

type Tally = { readonly counter: OwnCounter; used: number };

/**
 * Checks the ledger and the wallet against a customer's overrides, and recomputes the counters of their limits. Methods return a
 * description of the first error, or null.
 */
export class FoldedOverrides {
  /** Sorted by number. */
  readonly #rows: readonly NewOverrides[];
  readonly #wallet: Wallet;
  /** Counters whose period has ended are ignored, because they may lack later charges. */
  readonly #tallies: readonly Tally[];
  /** By feature, filled on demand: the time from which charges must be counted. */
  readonly #countedSince = new Map<FeatureId, number>();
  /** The index of the last row that is not newer than the entries so far. Entries are in chronological order. */
  #newest = -1;

  constructor(rows: readonly NewOverrides[], wallet: Wallet) {
    this.#rows = rows;
    this.#wallet = wallet;
    this.#tallies = wallet.ownCounters
      .filter(({ end }) => isAhead(end, wallet.decidedAt))
      .map((counter) => ({
        counter,
        used: quantityHeld(wallet.holds, (charge) => countsCharge(counter, charge)),
      }));
  }

  /** The override that priced a charge or reversal. Null if only the plan's terms applied. */
  termsOf({ overrides, feature }: Usage): FeatureOverride | null {
    return overrides === null ? null : findOverride(this.#rows[overrides - 1] ?? null, feature);
  }

  add(entry: Entry): string | null {
    const { kind, usage } = entry;
    if (usage === null) return null;
    // A hold is settled on the terms in force when it was opened.
    const flaw = kind === "consume" && entry.hold === null ? this.#judge(entry, usage) : null;
    return flaw ?? this.#count(entry, usage);
  }

  /** Checks that a charge refers to the overrides in force at its time, if they change its feature. */
  #judge({ effectiveAt }: Entry, usage: Usage): string | null {
    const { overrides: number, feature } = usage;
    if (number !== null) {
      const isNamed = this.#isInForce(number, effectiveAt) && this.termsOf(usage) !== null;
      return isNamed ? null : `refers to overrides ${number}, which did not apply`;
    }
    // Overrides set in the same millisecond as the charge may be older or newer than the charge, so the charge need not refer to them.
    for (let next = this.#rows[this.#newest + 1]; next !== undefined; next = this.#rows[this.#newest + 1]) {
      if (next.effectiveAt > effectiveAt) break;
      this.#newest += 1;
    }
    const row = this.#rows[this.#newest];
    const isOlder = row !== undefined && row.effectiveAt < effectiveAt && isAhead(row.endsAt, effectiveAt);
    const isIgnored = isOlder && findOverride(row, feature) !== null;
    return isIgnored ? `does not refer to overrides ${row.number}, which applied` : null;
  }

  #isInForce(number: number, at: Instant): boolean {
    const row = this.#rows[number - 1];
    const next = this.#rows[number];
    if (row === undefined || row.effectiveAt > at || !isAhead(row.endsAt, at)) return false;
    return next === undefined || next.effectiveAt >= at;
  }

  #count({ kind, sequence, effectiveAt, hold }: Entry, usage: Usage): string | null {
    const charge = { ...usage, hold, sequence: usage.reverses ?? sequence };
    const limit = findOverride(this.#wallet.overrides, usage.feature)?.limit ?? null;
    let isCounted = false;
    for (const tally of this.#tallies) {
      if (!countsCharge(tally.counter, charge)) continue;
      tally.used += kind === "consume" ? usage.quantity : -usage.quantity;
      if (tally.counter.period === limit?.period) isCounted = true;
    }
    if (kind !== "consume" || limit === null || isCounted || hold !== null) return null;
    const since = this.#countedSince.get(usage.feature) ?? this.#findSince(usage, limit);
    this.#countedSince.set(usage.feature, since);
    const isMissed = effectiveAt > since;
    return isMissed ? `uses limited feature ${usage.feature}, but the overrides do not count it` : null;
  }

  /** Charges after this time must be counted: the start of the period or the time when the limit was set, whichever is later. */
  #findSince({ feature }: Usage, { period, anchor }: OwnLimit): number {
    let since = Number.POSITIVE_INFINITY;
    for (const row of this.#rows.toReversed()) {
      const limit = findOverride(row, feature)?.limit ?? null;
      if (limit?.period !== period || limit.anchor !== anchor) break;
      since = row.effectiveAt;
      // If the earlier overrides had ended before this row was set, the limit was not in force continuously.
      const earlier = this.#rows[row.number - 2];
      if (earlier !== undefined && !isAhead(earlier.endsAt, row.effectiveAt)) break;
    }
    const { start } = periodAt(period, anchor, this.#wallet.decidedAt);
    return Math.max(since, start - 1);
  }

  /** Checks that rows are numbered without a gap, in chronological order, and that the wallet has the terms of the last row. */
  compare(): string | null {
    const { overrides, overridesCount, decidedAt } = this.#wallet;
    let previous: Instant | null = null;
    for (const [index, { number, effectiveAt }] of this.#rows.entries()) {
      if (number !== index + 1) return `overrides ${index + 1} are missing or unreadable`;
      if (effectiveAt > decidedAt || (previous !== null && effectiveAt < previous))
        return `overrides ${number} are out of chronological order`;
      previous = effectiveAt;
    }
    if (this.#rows.length !== overridesCount)
      return `the wallet counts ${overridesCount} overrides, but only ${this.#rows.length} are readable`;
    const last = this.#rows.at(-1);
    const isOpen = last !== undefined && isAhead(last.endsAt, decidedAt) && !isEmpty(last);
    const expected = isOpen ? last : null;
    if (overrides === null || expected === null) {
      if (overrides !== expected) return "the overrides in the wallet are not the last ones that were set";
    } else if (overrides.number !== expected.number || !isSame(overrides, expected))
      return `the terms in the wallet differ from overrides ${expected.number}`;
    return this.#compareCounters();
  }

  #compareCounters(): string | null {
    const { overrides, decidedAt } = this.#wallet;
    const names = new Set(this.#tallies.map(({ counter }) => `${counter.feature} ${counter.period}`));
    if (names.size < this.#tallies.length) return "the overrides count a feature twice";
    for (const { counter, used } of this.#tallies) {
      const { feature, period, end } = counter;
      if (counter.used !== used)
        return `the overrides count ${counter.used} of feature ${feature}, but ${used} according to the ledger`;
      const limit = findOverride(overrides, feature)?.limit ?? null;
      if (limit?.period === period && periodAt(period, limit.anchor, decidedAt).end !== end)
        return `the count of feature ${feature} does not end with its period`;
    }
    return null;
  }
}
