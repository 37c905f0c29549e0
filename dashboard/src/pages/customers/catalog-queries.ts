import { queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";

export type Plan = Item<"listPlans">;
export type PlanVersion = Answer<"readPlan">["versions"][number];

/** The plans there are, archived ones too: somebody may still have one. */
export function planChoicesQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["customers", place, "plan choices"],
    queryFn: () =>
      readAll((cursor) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/plans", {
            params: { path: place, query: { limit: "200", ...cursor } },
          }),
        ),
      ),
    staleTime: 30_000,
  });
}

export function poolChoicesQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["customers", place, "pool choices"],
    queryFn: () =>
      readAll((cursor) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/pools", {
            params: { path: place, query: { limit: "200", ...cursor } },
          }),
        ),
      ),
    staleTime: 30_000,
  });
}

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
          params: { path: { ...place, key } },
        }),
      );
      return versions.find(({ number }) => number === version) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function readAll<Line>(
  readPage: (cursor: { cursor?: string }) => Promise<{ items: Line[]; nextCursor: string | null }>,
): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Line[]; nextCursor: string | null } = await readPage(
      cursor === null ? {} : { cursor },
    );
    lines.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return lines;
}
