import type { Caller } from "../caller.ts";
import { readConsumption } from "../consume/consume-feature.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { type Answer, toCheckAnswer } from "../reply.ts";
import type { Reader } from "./reader.ts";
import type { CheckBody } from "./schema.ts";

/** From a body that fits its schema to what the caller reads. What is a problem instead is thrown. */
export async function answerCheck(
  parts: { readonly readerOf: (cell: string) => Reader; readonly missing: FeatureFinder },
  caller: Caller,
  body: CheckBody,
): Promise<Answer> {
  const asked = readConsumption(body);
  const { environmentId, cell } = caller;
  const outcome = await parts.readerOf(cell).ask({ environmentId, ...asked });
  if (outcome.kind === "feature_not_found") throw await parts.missing(caller, asked.feature);
  return toCheckAnswer(outcome, asked);
}
