import { describeEntry, type GrantKind } from "../../format/ledger.ts";
import type { Entry, Grant } from "../ledger/queries.ts";

export type BalancePoint = {
  readonly at: number;
  readonly balance: number;
  /** Null for the first and last point of the line. */
  readonly entry: { readonly what: string; readonly amount: number; readonly sequence: number } | null;
  /** Marked in the chart. */
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

function kindOf({ parts }: Entry, kinds: ReadonlyMap<number, GrantKind>): GrantKind | null {
  const [part] = parts;
  return part === undefined ? null : (kinds.get(part.grant) ?? null);
}
