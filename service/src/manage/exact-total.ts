import { Problem } from "../edge/problem.ts";

/**
 * Totals are added up as bigints, and every one of them leaves by here: a number of JSON means the same to every reader only up to
 * 2^53 - 1 (RFC 8259, section 6), and a rounded amount of money is a wrong one.
 */
export function exactTotal(total: bigint): number {
  const number = Number(total);
  if (Number.isSafeInteger(number)) return number;
  throw new Problem("total_too_large", {
    detail:
      "A total is beyond 9,007,199,254,740,991, up to which numbers in JSON are exact. Choose a shorter range, one customer or one " +
      "feature, or add up an export: it has every row.",
  });
}
