import { queryOptions } from "@tanstack/react-query";
import type { Answer, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";

export type PlanVersion = Answer<"readPlan">["versions"][number];

/** What a customer's plan gives, as of the version they have. */
export function planVersionQuery(
  { projectId, environment }: Place,
  { key, version }: { key: string; version: number },
) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["customers", place, "plan version", key, version],
    queryFn: async (): Promise<PlanVersion | null> => {
      const { versions } = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
          params: { path: { ...place, key }, query: { before: String(version + 1) } },
        }),
      );
      return versions.find(({ number }) => number === version) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
