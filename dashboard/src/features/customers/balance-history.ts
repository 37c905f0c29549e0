import { describeEntry, type GrantKind } from "../../format/ledger.ts";
import type { Entry, Grant } from "../ledger/queries.ts";

export type BalancePoint = {
  readonly at: number;
  readonly balance: number;
  /** The ledger entry. Null for the first and last point of the line. */
  readonly entry: { readonly what: string; readonly amount: number; readonly sequence: number } | null;
  /** Whether the chart marks the point as a top-up. */
  readonly isTopUp: boolean;
};

/** Balance of a pool from the oldest loaded entry until now. */
export function balanceHistory(
  { entries, grants, pool }: { entries: readonly Entry[]; grants: readonly Grant[]; pool: string },
  now: { at: number; balance: number },
): BalancePoint[] {
  const kinds = new Map(grants.map(({ grant, kind }) => [grant, kind]));
  const points = entries
    .filter((entry) => entry.pool === pool)
    .toReversed()
    .map((entry): BalancePoint => {
      const given = kindOf(entry, kinds);
      return {
        at: Date.parse(entry.effectiveAt),
        balance: entry.balanceAfter,
        entry: { what: describeEntry(entry.kind, given), amount: entry.amount, sequence: entry.sequence },
        isTopUp: entry.kind === "grant" && given !== null && given !== "allowance",
      };
    });
  const [first] = points;
  if (first === undefined || first.entry === null) return [];
  const before = first.balance - first.entry.amount;
  return [
    { at: first.at, balance: before, entry: null, isTopUp: false },
    ...points,
    { ...now, entry: null, isTopUp: false },
  ];
}

/** Share of the time range to add before the first change, so that the first change is a step. */
const LEAD_IN = 0.04;

/** Combines all changes at the same time into one step. Otherwise, the balance would seem to drop to zero at each renewal. */
export function stepsOf(points: readonly BalancePoint[]): BalancePoint[] {
  const [first, ...others] = points;
  const last = others.at(-1);
  if (first === undefined || last === undefined) return [...points];
  const start = { ...first, at: first.at - Math.max(1, (last.at - first.at) * LEAD_IN) };
  const byTime = Map.groupBy(others, ({ at }) => at);
  return [start, ...[...byTime.values()].flatMap(mergeStep)];
}

function mergeStep(changes: readonly BalancePoint[]): BalancePoint[] {
  const last = changes.at(-1);
  if (last === undefined) return [];
  const entries = changes.flatMap(({ entry }) => entry ?? []);
  const [entry = null] = entries.slice(-1);
  return [
    {
      ...last,
      isTopUp: changes.some(({ isTopUp }) => isTopUp),
      entry:
        entry === null
          ? null
          : {
              ...entry,
              what: entries.length === 1 ? entry.what : `${entries.length} changes`,
              amount: entries.reduce((sum, { amount }) => sum + amount, 0),
            },
    },
  ];
}

function kindOf({ parts }: Entry, kinds: ReadonlyMap<number, GrantKind>): GrantKind | null {
  const [part] = parts;
  return part === undefined ? null : (kinds.get(part.grant) ?? null);
}
