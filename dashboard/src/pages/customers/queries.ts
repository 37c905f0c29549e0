import { queryOptions } from "@tanstack/react-query";
import type { Answer, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/pages.ts";

export type Customer = Answer<"readCustomer">;

/** What the list is narrowed to; it stands in the address. */
export type CustomerFilters = {
  search?: string;
  plan?: string;
  blocked?: boolean;
  balanceBelow?: number;
};

export function customersQuery({ projectId, environment }: Place, filters: CustomerFilters) {
  const place = { projectId, environment };
  return pagesOf(["customers", place, filters], (cursor) =>
    answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers", {
        params: { path: place, query: { ...toQuery(filters), ...cursor } },
      }),
    ),
  );
}

function toQuery({ blocked, balanceBelow, ...filters }: CustomerFilters) {
  return {
    ...filters,
    ...(blocked === undefined ? {} : { blocked: blocked ? ("true" as const) : ("false" as const) }),
    ...(balanceBelow === undefined ? {} : { balanceBelow: String(balanceBelow) }),
  };
}

/** All that is known about one customer hangs below this key: who writes invalidates it whole. */
export function customerKey({ projectId, environment }: Place, customerId: string) {
  return ["customer", { projectId, environment }, customerId] as const;
}

export function customerQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "profile"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
          params: { path: { projectId, environment, customerId } },
        }),
      ),
  });
}
