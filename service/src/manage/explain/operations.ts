import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { parseTimedId } from "../../primitives/timed-id.ts";
import { historyStartOf } from "../history-window.ts";
import {
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  principalOf,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { DenialExplanation } from "./denial-explanation.ts";
import { explainDenial } from "./explain-denial.ts";
import { KeyStory } from "./key-story.ts";
import { readKey } from "./read-key.ts";

const NOUN = "Explanations";

/** Answers to "why?": what a key did, and how a denial came about. */
export function explanationOperations({ control, cellOf, idempotencyDays }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/keys/:idempotencyKey`,
      access: { role: "viewer", in: "environment" },
      id: "readKey",
      noun: NOUN,
      summary: "What an idempotency key did",
      description:
        "The answer that is kept under it, the charge, denial or event behind that, and its uses in the last 7 days, with what was " +
        "different about those that were refused. A key belongs to the whole project: of one that was used in the other environment " +
        "this says so, and nothing else. A token for one environment is not told even that.",
      params: Type.Object({
        ...environmentParams,
        idempotencyKey: Type.String({
          minLength: 1,
          maxLength: 255,
          description: "The key, percent-encoded.",
          examples: ["job-7f3a-charge"],
        }),
      }),
      answer: KeyStory,
      codes: [],
      handle: async (call) => {
        const scope = scopeOf(call);
        const since = await historyStartOf(control, call);
        const reachesOther = principalOf(call).environmentId === null;
        const asked = { key: call.params.idempotencyKey, since, idempotencyDays, reachesOther };
        const story = await readKey(cellOf(scope.cell), scope, asked);
        if (story !== null) return story;
        throw new Problem("not_found", { detail: "Nothing is known of this key here." });
      },
    }),
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/denials/:denialId`,
      access: { role: "viewer", in: "environment" },
      id: "explainDenial",
      noun: NOUN,
      summary: "Why a consume was denied",
      description:
        "The arithmetic of that moment, what led to it, whether the same request would be allowed now, and all of it in plain sentences.",
      params: Type.Object({
        ...environmentParams,
        denialId: Type.String({ maxLength: 40, examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
      }),
      answer: DenialExplanation,
      codes: [],
      handle: async (call) => {
        const scope = scopeOf(call);
        const id = parseTimedId("den", call.params.denialId);
        const since = await historyStartOf(control, call);
        const explanation =
          id === null ? null : await explainDenial(cellOf(scope.cell), scope, { id, since });
        if (explanation !== null) return explanation;
        throw new Problem("not_found", { detail: "There is no such denial in this environment." });
      },
    }),
  ];
}
