import { queryOptions } from "@tanstack/react-query";
import type { Item } from "./answer.ts";
import { answerOf, api } from "./client.ts";

export type Project = Item<"listProjects">;

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: async () =>
    (await answerOf(api.GET("/manage/v1/projects", { params: { query: { limit: "200" } } }))).items,
  staleTime: 60_000,
});
