import type { CustomerId, FeatureKey, Quantity } from "../primitives/brand.ts";
import { type Fingerprint, fingerprint } from "./fingerprint.ts";
import type { Metadata } from "./metadata.ts";

/** The parsed body of a consume request. */
export type Consumption = {
  readonly customerId: CustomerId;
  readonly feature: FeatureKey;
  readonly quantity: Quantity;
  readonly metadata: Metadata | null;
};

export const QUANTITY_DEFAULT = 1;

export function fingerprintConsumption({
  customerId,
  feature,
  quantity,
  metadata,
}: Consumption): Fingerprint {
  return fingerprint([
    ["customerId", JSON.stringify(customerId)],
    ["feature", JSON.stringify(feature)],
    ["metadata", metadata?.canonical ?? null],
    ["quantity", quantity === QUANTITY_DEFAULT ? null : String(quantity)],
  ]);
}
