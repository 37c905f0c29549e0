import { Problem } from "../edge/problem.ts";

/** Converts a bigint total for JSON. Rejects totals above 2^53 - 1, which are not exact in JSON (RFC 8259, section 6). */
export function exactTotal(total: bigint): number {
  const number = Number(total);
  if (Number.isSafeInteger(number)) return number;
  throw new Problem("total_too_large", {
    detail:
      "A total exceeds 9,007,199,254,740,991, the largest exact number in JSON. Choose a shorter range, one customer or one " +
      "feature, or add up the rows of an export.",
  });
}
