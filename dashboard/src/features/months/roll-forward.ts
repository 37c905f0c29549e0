import { GRANT_WORDS, type GrantKind } from "../../format/ledger-words.ts";
import type { Month } from "./queries.ts";

type Line = Month["lines"][number];

const AMOUNTS = ["opening", "granted", "used", "expired", "revoked", "reversed", "closing"] as const;
export type Amount = (typeof AMOUNTS)[number];
type Amounts = Readonly<Record<Amount, number>>;

/** A line of the report: one kind of credits in a pool, or all of a pool together. */
export type BookLine = { readonly pool: string; readonly kind: GrantKind | null; readonly amounts: Amounts };

/** Pool by pool, and below the kinds of each their sum. */
export function rollForward(lines: readonly Line[]): BookLine[] {
  const pools = Map.groupBy(lines, ({ pool }) => pool);
  return [...pools].flatMap(([pool, ofPool]) => [
    ...ofPool.map((line): BookLine => ({ pool, kind: line.kind, amounts: line })),
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

/** Counted again here, from what the API says of each part. Each is exact, but what two of them come to may not be a number's. */
export function addsUp({ opening, granted, used, expired, revoked, reversed, closing }: Amounts): boolean {
  const come = BigInt(opening) + BigInt(granted) + BigInt(reversed);
  const gone = BigInt(used) + BigInt(expired) + BigInt(revoked);
  return come - gone === BigInt(closing);
}

/** Whether a month begins with what the one before ended with, for every pool and kind. */
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

const ABOUT = ["month", "from", "to", "completeTo", "isFinal"] as const;

/** For a spreadsheet. Each line says of when it is, as the history window or the present may cut a month off. */
export function rollForwardCsv(month: Month): string {
  const about = ABOUT.map((name) => month[name]);
  const rows = month.lines.map((line) => [
    ...about,
    cellOf(line.pool),
    GRANT_WORDS[line.kind],
    ...AMOUNTS.map((amount) => line[amount]),
  ]);
  return [[...ABOUT, "pool", "kind", ...AMOUNTS], ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** Quoted where it must be; what a spreadsheet would run has an apostrophe before it. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
