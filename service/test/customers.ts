import type { AddCreditsInput } from "../src/manage/credits/add-credits.ts";
import { brandAs, type CustomerId } from "../src/primitives/brand.ts";

export const ADA = brandAs<CustomerId>("ada");
export const BOB = brandAs<CustomerId>("bob");
export const OLD_TIMER = brandAs<CustomerId>("old-timer");

/** 50 purchased credits for "ada", without expiry, reference or note. */
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

/** Counts outcomes by kind. */
export function countKinds(outcomes: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
