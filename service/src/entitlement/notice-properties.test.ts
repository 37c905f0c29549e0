import { expect, test } from "vitest";
import { watched } from "../../test/catalog.ts";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { histories } from "../../test/model/history.ts";
import { playStep, startBook } from "../../test/model/play.ts";
import type { Script } from "../../test/model/script.ts";
import type { FeatureId, PoolId } from "../primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "../store/cell/wallet-state.ts";
import type { Entry } from "./entry.ts";
import { balanceOf, heldIn, type Peak, type Wallet } from "./wallet.ts";

const THRESHOLDS = [50, 20];

/** Which thresholds of a pool a grant has armed. Independent of the core: remembers every threshold instead of one balance. */
class ArmedThresholds {
  readonly #armed = new Map<PoolId, Set<number>>();

  /** The thresholds that a change crosses. 0 stands for overage, and 1 for a depleted balance. */
  add(entries: readonly Entry[]): string[] {
    const lowest = new Map<PoolId, number>();
    for (const { kind, pool, balanceAfter, usage } of entries) {
      const armed = this.#armed.get(pool) ?? new Set<number>();
      this.#armed.set(pool, armed);
      const usesOverage = kind === "consume" && (usage?.overage ?? []).length > 0;
      const level = usesOverage ? -1 : balanceAfter;
      if (kind === "grant") {
        for (const threshold of [...THRESHOLDS, 1, 0]) if (level >= threshold) armed.add(threshold);
        lowest.set(pool, level);
      } else lowest.set(pool, Math.min(lowest.get(pool) ?? level, level));
    }
    const crossed: string[] = [];
    for (const [pool, level] of lowest) {
      const armed = this.#armed.get(pool) ?? new Set();
      for (const threshold of [...THRESHOLDS, 1, 0])
        if (level < threshold && armed.delete(threshold)) crossed.push(`${pool} ${threshold}`);
    }
    return crossed;
  }
}

const NUMBER_OF = { "balance.depleted": 1, "overage.started": 0 } as const;

test(
  "in random histories, a threshold is crossed once between two grants, and stored wallets remember it",
  { timeout: HISTORIES_TIMEOUT_MS },
  () => forEveryHistory(HISTORIES / 2, followThresholds, histories),
);

function followThresholds(script: Script): void {
  const book = startBook(script);
  const thresholds = new ArmedThresholds();
  for (const step of script.steps) {
    const catalog = watched(step.catalog, THRESHOLDS);
    const { change } = playStep(book, { ...step, catalog });
    if (change === null) continue;
    const { notices, entries, wallet } = change;
    const crossed = notices.flatMap((notice) => {
      if (!("pool" in notice) || notice.type === "topup.due") return [];
      const pool = [...catalog.pools.values()].find(({ key }) => key === notice.pool);
      return [`${pool?.id} ${"threshold" in notice ? notice.threshold : NUMBER_OF[notice.type]}`];
    });
    expect(crossed.sort()).toEqual(thresholds.add(entries).sort());
    for (const { pool, balance } of wallet.lows) expect(balance).toBeLessThan(totalOf(wallet, pool));
    for (const { feature, of, used } of wallet.peaks)
      expect(used).toBeGreaterThan(usedOf(wallet, feature, of));
    const { sequence, decidedAt, isBlocked, holds, holdsUntil } = wallet;
    const stored = decodeWalletState(encodeWalletState(wallet), { sequence, decidedAt, isBlocked });
    expect({ ...stored, holds, holdsUntil }).toEqual(wallet);
  }
}

function totalOf(wallet: Wallet, pool: PoolId): number {
  return balanceOf(wallet, pool) + heldIn(wallet, pool);
}

function usedOf({ assignment, paused, ownCounters }: Wallet, feature: FeatureId, of: Peak["of"]): number {
  const plans = [assignment, ...paused.map((plan) => plan.assignment)].filter((plan) => plan !== null);
  const counters =
    typeof of === "number"
      ? plans.filter(({ number }) => number === of).flatMap((plan) => plan.counters)
      : ownCounters.filter(({ period }) => period === of);
  return Math.min(...counters.filter((counter) => counter.feature === feature).map(({ used }) => used));
}
