import type { CustomerId, FeatureKey, MemberId, Quantity } from "../primitives/brand.ts";
import { type Fingerprint, fingerprint } from "./fingerprint.ts";
import type { Metadata } from "./metadata.ts";
import type { Hold } from "./wallet.ts";

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

/** Renders the items as text. Two texts are equal only if features, quantities and order are equal. */
export function canonicalItems(items: readonly ConsumptionItem[]): string {
  return JSON.stringify(items.map(({ feature, quantity }) => [feature, quantity]));
}

export function parseItems(canonical: string): ConsumptionItem[] {
  const items: readonly [FeatureKey, Quantity][] = JSON.parse(canonical);
  return items.map(([feature, quantity]) => ({ feature, quantity }));
}

/** How long a hold lasts, and what happens when it expires. */
export type HoldDuration = { readonly expiresInMs: number } & Pick<Hold, "onExpiry">;

export const HOLD_DURATION_DEFAULT: HoldDuration = { expiresInMs: 900_000, onExpiry: "release" };

/** The fingerprint of a consume request, or of a request that opens a hold. */
export function fingerprintConsumption(
  { customerId, items, hasItems, memberId, metadata }: Consumption,
  hold: HoldDuration | null,
): Fingerprint {
  const { expiresInMs, onExpiry } = hold ?? HOLD_DURATION_DEFAULT;
  const single = hasItems ? undefined : items[0];
  const isUsualEnd = expiresInMs === HOLD_DURATION_DEFAULT.expiresInMs;
  const quantity = single?.quantity ?? QUANTITY_DEFAULT;
  return fingerprint([
    ["customerId", JSON.stringify(customerId)],
    ["expiresInMs", isUsualEnd ? null : String(expiresInMs)],
    ["feature", single === undefined ? null : JSON.stringify(single.feature)],
    ["items", single === undefined ? canonicalItems(items) : null],
    ["memberId", memberId === null ? null : JSON.stringify(memberId)],
    ["metadata", metadata?.canonical ?? null],
    ["onExpiry", onExpiry === HOLD_DURATION_DEFAULT.onExpiry ? null : JSON.stringify(onExpiry)],
    ["quantity", quantity === QUANTITY_DEFAULT ? null : String(quantity)],
  ]);
}
