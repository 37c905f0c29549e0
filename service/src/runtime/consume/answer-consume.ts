import type { Caller } from "../caller.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { type Answer, toAnswer } from "../reply.ts";
import { consumeFeature, readConsumption } from "./consume-feature.ts";
import type { ConsumeBody } from "./schema.ts";

/** From a body that fits its schema to what the caller reads. What is a problem instead is thrown. */
export async function answerConsume(
  parts: { readonly lanesOf: (cell: string) => Lanes; readonly missing: FeatureFinder },
  caller: { readonly key: Caller; readonly requestId: string },
  body: ConsumeBody,
): Promise<Answer> {
  const consumption = readConsumption(body);
  const lanes = parts.lanesOf(caller.key.cell);
  const outcome = await consumeFeature(lanes, caller, consumption, body.idempotencyKey);
  if (outcome.kind === "feature_not_found") throw await parts.missing(caller.key, consumption.feature);
  return toAnswer(outcome, consumption);
}
