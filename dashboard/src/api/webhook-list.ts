import { type Scope, scopeOf } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

export const WEBHOOKS_PATH = "/manage/v1/projects/{projectId}/{environment}/webhooks";

/** All webhooks of an environment. A customer's rules for top-ups need one that receives them. */
export function webhooksQuery(scope: Scope) {
  return wholeListOf(WEBHOOKS_PATH, { params: { path: scopeOf(scope) } });
}
