import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { parseTimedId } from "../../primitives/public-id.ts";
import { roleInProject } from "../../primitives/role.ts";
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

/** Explains idempotency keys and denials. */
export function explanationOperations({ control, cellOf, idempotencyDays }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/keys/:idempotencyKey`,
      access: { role: "viewer", in: "environment" },
      id: "readKey",
      noun: NOUN,
      summary: "Read an idempotency key",
      description:
        "Returns the response stored for the key, the resulting charge, denial, hold or event, and the key's uses in the last 7 days. " +
        "For a rejected use, lists the fields that differ from the original request. A key is valid in the whole project. If the key " +
        "was used in the other environment, the response shows only that fact, and only if you also have a role there.",
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
      handle: async (call) => {
        const scope = scopeOf(call);
        const since = await historyStartOf(control, call);
        const reachesOther = roleInProject(principalOf(call), scope.projectId) !== null;
        const asked = { key: call.params.idempotencyKey, since, idempotencyDays, reachesOther };
        const story = await readKey(cellOf(scope), scope, asked);
        if (story !== null) return story;
        throw new Problem("not_found", { detail: "This key was not used in this environment." });
      },
    }),
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/denials/:denialId`,
      access: { role: "viewer", in: "environment" },
      id: "explainDenial",
      noun: NOUN,
      summary: "Explain a denial",
      description:
        "Returns the balance and limit at the time of the denial, the charges before the denial, and an explanation in sentences. Also " +
        "returns whether the same request would be allowed now.",
      params: Type.Object({
        ...environmentParams,
        denialId: Type.String({ maxLength: 40, examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
      }),
      answer: DenialExplanation,
      handle: async (call) => {
        const scope = scopeOf(call);
        const id = parseTimedId("den", call.params.denialId);
        const since = await historyStartOf(control, call);
        const explanation = id === null ? null : await explainDenial(cellOf(scope), scope, { id, since });
        if (explanation !== null) return explanation;
        throw new Problem("not_found", { detail: "There is no such denial in this environment." });
      },
    }),
  ];
}
