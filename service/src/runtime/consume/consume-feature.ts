import { type Consumption, fingerprintConsumption, QUANTITY_DEFAULT } from "../../entitlement/consumption.ts";
import { hashKey } from "../../entitlement/key-hash.ts";
import {
  brandAs,
  type CustomerId,
  type FeatureKey,
  type IdempotencyKey,
  type Quantity,
} from "../../words/brand.ts";
import type { Caller } from "../caller.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { Outcome } from "../commit/request.ts";
import { checkTexts, readMetadata, refuseIfAny } from "../read-fields.ts";
import type { ConsumeBody } from "./schema.ts";

/** `POST /v1/consume`: from a body that fits its schema to a durable outcome. */
export function consumeFeature(
  lanes: Lanes,
  caller: { key: Caller; requestId: string },
  consumption: Consumption,
  idempotencyKey: string,
): Promise<Outcome> {
  const { projectId, environmentId, metadataLimits } = caller.key;
  return lanes.submit({
    endpoint: "consume",
    projectId,
    environmentId,
    customerId: consumption.customerId,
    requestId: caller.requestId,
    keyed: {
      projectId,
      key: brandAs<IdempotencyKey>(idempotencyKey),
      keyHash: hashKey(idempotencyKey),
      fingerprint: fingerprintConsumption(consumption),
    },
    consumption,
    metadataLimits,
  });
}

/** Refuses what a schema cannot describe. */
export function readConsumption(body: Omit<ConsumeBody, "idempotencyKey">): Consumption {
  const errors = checkTexts(body, ["customerId", "feature"]);
  const metadata = readMetadata(body.metadata, errors);
  refuseIfAny(errors);
  return {
    customerId: brandAs<CustomerId>(body.customerId),
    feature: brandAs<FeatureKey>(body.feature),
    quantity: brandAs<Quantity>(body.quantity ?? QUANTITY_DEFAULT),
    metadata,
  };
}
