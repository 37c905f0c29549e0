import type { CustomerId, FeatureKey, MemberId, Quantity } from "../primitives/brand.ts";
import { type Fingerprint, fingerprint } from "./fingerprint.ts";
import type { Metadata } from "./metadata.ts";

/** The parsed body of a consume request. */
export type Consumption = {
  readonly customerId: CustomerId;
  /** Each feature occurs only once. */
  readonly items: readonly ConsumptionItem[];
  /** Whether the caller sent `items` instead of a single feature. The response then contains `items` too. */
  readonly hasItems: boolean;
  readonly memberId: MemberId | null;
  readonly metadata: Metadata | null;
};

export type ConsumptionItem = { readonly feature: FeatureKey; readonly quantity: Quantity };

export const QUANTITY_DEFAULT = 1;

/** The items as one text: equal only if features, quantities and order are equal. */
export function canonicalItems(items: readonly ConsumptionItem[]): string {
  return JSON.stringify(items.map(({ feature, quantity }) => [feature, quantity]));
}

export function parseItems(canonical: string): ConsumptionItem[] {
  const items: readonly [FeatureKey, Quantity][] = JSON.parse(canonical);
  return items.map(([feature, quantity]) => ({ feature, quantity }));
}

export function fingerprintConsumption(consumption: Consumption): Fingerprint {
  const { customerId, items, hasItems, memberId, metadata } = consumption;
  const [single] = items;
  const member = memberId === null ? null : JSON.stringify(memberId);
  if (hasItems || single === undefined)
    return fingerprint([
      ["customerId", JSON.stringify(customerId)],
      ["items", canonicalItems(items)],
      ["memberId", member],
      ["metadata", metadata?.canonical ?? null],
    ]);
  return fingerprint([
    ["customerId", JSON.stringify(customerId)],
    ["feature", JSON.stringify(single.feature)],
    ["memberId", member],
    ["metadata", metadata?.canonical ?? null],
    ["quantity", single.quantity === QUANTITY_DEFAULT ? null : String(single.quantity)],
  ]);
}
