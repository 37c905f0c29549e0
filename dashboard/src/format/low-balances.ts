import { formatCount, readWhole } from "./numbers.ts";
import { joinList } from "./terms.ts";

const COUNT_MAX = 10;
const BALANCE_MAX = 1_000_000_000_000;

/** Thresholds as text for an input: "1000, 100". */
export function lowBalancesText(lowBalances: readonly number[]): string {
  return lowBalances.join(", ");
}

type Read = { readonly values: readonly number[] } | { readonly error: string };

/** Reads thresholds that are separated by commas or line breaks, highest first, without repeats. */
export function readLowBalances(text: string): Read {
  // "500,100" can be two thresholds or one. After a space or a line break, the comma only separates.
  const unclear = /(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])/.exec(text)?.[0];
  if (unclear !== undefined)
    return {
      error: `${unclear} is ambiguous. Add a space after the comma for two thresholds, or remove it for one.`,
    };
  const parts = text.split(/[,\n]/).filter((part) => part.trim() !== "");
  const numbers = parts.map((part) => Number(readWhole(part) ?? Number.NaN));
  const wrong = parts[numbers.findIndex((value) => !(value >= 1 && value <= BALANCE_MAX))];
  if (wrong !== undefined)
    return { error: `“${wrong.trim()}” is not a whole number from 1 to ${formatCount(BALANCE_MAX)}.` };
  const values = [...new Set(numbers)].sort((a, b) => b - a);
  return values.length > COUNT_MAX ? { error: `At most ${COUNT_MAX} numbers.` } : { values };
}

/** "1,000 and 100". */
export function nameLowBalances(lowBalances: readonly number[]): string {
  return joinList(lowBalances.map(formatCount));
}
