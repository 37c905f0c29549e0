import {
  brandAs,
  type CustomerId,
  type EnvironmentId,
  type FeatureKey,
  type ProjectId,
  type Quantity,
} from "../src/primitives/brand.ts";
import type { Lanes } from "../src/runtime/commit/lanes.ts";
import type { Outcome } from "../src/runtime/commit/request.ts";
import { consumeFeature } from "../src/runtime/consume/route.ts";

type Charge = { readonly feature: string; readonly quantity: number; readonly key: string };

/** A consume request for "ada" on lanes that a test created. */
export function consumeOn(
  lanes: Lanes,
  scope: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  { feature, quantity, key }: Charge,
): Promise<Outcome> {
  const metadataLimits = { bytesMax: 100, keysMax: 10, depthMax: 2 };
  return consumeFeature(
    lanes,
    {
      key: { ...scope, environmentKind: "test", cell: "default", metadataLimits, historyDaysMax: null },
      requestId: key,
      span: null,
    },
    {
      consumption: {
        customerId: brandAs<CustomerId>("ada"),
        items: [{ feature: brandAs<FeatureKey>(feature), quantity: brandAs<Quantity>(quantity) }],
        hasItems: false,
        memberId: null,
        metadata: null,
      },
      duration: null,
      idempotencyKey: key,
    },
  );
}
