import type { AddCreditsInput } from "../src/manage/credits/add-credits.ts";
import { brandAs, type CustomerId } from "../src/primitives/brand.ts";

export const ADA = brandAs<CustomerId>("ada");
export const BOB = brandAs<CustomerId>("bob");
export const OLD_TIMER = brandAs<CustomerId>("old-timer");

/** 50 credits for "ada", bought without an end and without a word about it. */
export const TOP_UP: AddCreditsInput = {
  customerId: ADA,
  pool: "credits",
  kind: "purchase",
  credits: 50,
  expiresAt: null,
  reference: null,
  price: null,
  note: null,
};

/** How many times each was the outcome. */
export function countKinds(outcomes: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
