import { type Answer, type Place, placeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";

export type Month = Answer<"readMonth">;

export const MONTH_PATH = "/manage/v1/projects/{projectId}/{environment}/months/{month}";

export function monthQuery(place: Place, month: string) {
  return queryOf(
    "get",
    MONTH_PATH,
    { params: { path: { ...placeOf(place), month } } },
    // Expensive: reads every wallet.
    { staleTime: 60_000, meta: { tellsFailures: true } },
  );
}
