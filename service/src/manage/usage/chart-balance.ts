import { balanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { readBalances, readEntryTimes } from "../../store/cell/usage/balances.ts";
import type { CustomerNumber, Instant, PoolId } from "../../words/brand.ts";

/**
 * What was in a pool just before each of these moments, the earliest first, since which all entries must be there. The entries are
 * numbered in the order of their time, so that each moment is found by halving: some thirty look-ups, however many entries there are.
 */
export async function balancesAt(
  tx: Tx,
  { number, wallet }: { readonly number: CustomerNumber; readonly wallet: Wallet },
  pool: PoolId,
  moments: readonly Instant[],
): Promise<number[]> {
  const sequences = await findLastEntries(tx, number, wallet.sequence, moments);
  const known = await readBalances(tx, number, pool, [...new Set(sequences)]);
  // From the end: where nothing moved, it is what it was later.
  const balances: number[] = [];
  for (const sequence of sequences.toReversed())
    balances.push(known.get(sequence) ?? balances.at(-1) ?? balanceOf(wallet, pool));
  return balances.reverse();
}

/** The number of the last entry before each moment; 0 where there is none. */
async function findLastEntries(
  tx: Tx,
  number: CustomerNumber,
  lastSequence: number,
  moments: readonly Instant[],
): Promise<number[]> {
  const ranges = moments.map((moment) => ({ moment, low: 0, high: lastSequence }));
  for (;;) {
    const open = ranges.filter(({ low, high }) => low < high);
    if (open.length === 0) return ranges.map(({ low }) => low);
    const middles = new Set(open.map(middleOf));
    const times = await readEntryTimes(tx, number, [...middles]);
    for (const range of open) {
      const middle = middleOf(range);
      // One that is not there is of a month that is detached, before all of these moments.
      if ((times.get(middle) ?? Number.NEGATIVE_INFINITY) < range.moment) range.low = middle;
      else range.high = middle - 1;
    }
  }
}

function middleOf({ low, high }: { readonly low: number; readonly high: number }): number {
  return Math.ceil((low + high) / 2);
}
