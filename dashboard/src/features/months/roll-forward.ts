import { toCsv } from "../../format/csv.ts";
import { GRANT_NAMES, type GrantKind } from "../../format/ledger.ts";
import type { Month } from "./queries.ts";

type Line = Month["lines"][number];

const AMOUNTS = ["opening", "granted", "used", "expired", "revoked", "reversed", "closing"] as const;
export type Amount = (typeof AMOUNTS)[number];
type Amounts = Readonly<Record<Amount, number>>;

/** One line: a grant kind of a pool, or the total of the pool (kind null). */
export type StatementLine = {
  readonly pool: string;
  readonly kind: GrantKind | null;
  readonly amounts: Amounts;
};

/** Lines by pool, with a total after each pool. */
export function rollForward(lines: readonly Line[]): StatementLine[] {
  const pools = Map.groupBy(lines, ({ pool }) => pool);
  return [...pools].flatMap(([pool, ofPool]) => [
    ...ofPool.map((line): StatementLine => ({ pool, kind: line.kind, amounts: line })),
    ...(ofPool.length > 1 ? [{ pool, kind: null, amounts: sumOf(ofPool) }] : []),
  ]);
}

function sumOf(lines: readonly Amounts[]): Amounts {
  const sum = (name: Amount): number => lines.reduce((total, line) => total + line[name], 0);
  return {
    opening: sum("opening"),
    granted: sum("granted"),
    used: sum("used"),
    expired: sum("expired"),
    revoked: sum("revoked"),
    reversed: sum("reversed"),
    closing: sum("closing"),
  };
}

/** Recalculates the closing balance. Uses BigInt, because a sum of safe integers can exceed the safe range. */
export function addsUp({ opening, granted, used, expired, revoked, reversed, closing }: Amounts): boolean {
  const come = BigInt(opening) + BigInt(granted) + BigInt(reversed);
  const gone = BigInt(used) + BigInt(expired) + BigInt(revoked);
  return come - gone === BigInt(closing);
}

/** Whether the opening balances equal the closing balances of the previous month. */
export function follows(month: Month, before: Month): boolean {
  const closings = amountsBy(before.lines, "closing");
  const openings = amountsBy(month.lines, "opening");
  return [...new Set([...closings.keys(), ...openings.keys()])].every(
    (key) => (closings.get(key) ?? 0) === (openings.get(key) ?? 0),
  );
}

function amountsBy(lines: readonly Line[], amount: Amount): Map<string, number> {
  return new Map(lines.map((line) => [`${line.kind} ${line.pool}`, line[amount]]));
}

export type OverageLine = Month["overage"][number];

/** Overage to invoice. Negative if more was reversed than used. */
export function toInvoice({ used, reversed }: OverageLine): number {
  return used - reversed;
}

const ABOUT = ["month", "from", "to", "completeTo", "isFinal"] as const;

/**
 * CSV with the covered time on each line, because a month can be incomplete: cut off by the history window, or still running. Overage
 * has its own lines and columns, so that the other columns add up to credits only.
 */
export function rollForwardCsv(month: Month): string {
  const about = ABOUT.map((name) => month[name]);
  const rows = month.lines.map((line) => [
    ...about,
    line.pool,
    GRANT_NAMES[line.kind],
    ...AMOUNTS.map((amount) => line[amount]),
    "",
    "",
  ]);
  const overage = month.overage.map(({ pool, used, reversed }) => [
    ...about,
    pool,
    "Overage",
    ...AMOUNTS.map(() => ""),
    used,
    reversed,
  ]);
  const header = [...ABOUT, "pool", "kind", ...AMOUNTS, "overageUsed", "overageReversed"];
  return toCsv([header, ...rows, ...overage]);
}
