import { type Answer, type Scope, scopeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";

export type Month = Answer<"readMonth">;

export const MONTH_PATH = "/manage/v1/projects/{projectId}/{environment}/months/{month}";

export function monthQuery(scope: Scope, month: string) {
  return queryOf(
    "get",
    MONTH_PATH,
    { params: { path: { ...scopeOf(scope), month } } },
    // Expensive: reads every wallet.
    { staleTime: 60_000, meta: { showsOwnErrors: true } },
  );
}
