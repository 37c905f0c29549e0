import { queryOptions } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { customerKey } from "./queries.ts";

export function proofQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "proof"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/proof", {
          params: { path: { projectId, environment, customerId } },
        }),
      ),
    // It reads the whole ledger: once is enough while nothing was written here.
    staleTime: 60_000,
    retry: false,
    meta: { tellsFailures: true },
  });
}

/** The changes of the balance that a chart can show, the newest first. */
export function latestEntriesQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "latest entries"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/ledger", {
          params: { path: { projectId, environment, customerId }, query: { limit: "200" } },
        }),
      ),
  });
}
