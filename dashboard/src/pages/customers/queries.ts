import type { Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/pages.ts";

/** What the list is narrowed to; it stands in the address. */
export type CustomerFilters = { search?: string; plan?: string; blocked?: "true"; balanceBelow?: string };

export function customersQuery(place: Place, filters: CustomerFilters) {
  return pagesOf(["customers", place, filters], (cursor) =>
    answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers", {
        params: { path: place, query: { ...filters, ...cursor } },
      }),
    ),
  );
}
