import { queryOptions } from "@tanstack/react-query";
import type { Item } from "./answer.ts";
import { answerOf, api } from "./client.ts";
import { wholeList } from "./lists.ts";

export type Project = Item<"listProjects">;

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: () => wholeList((query) => answerOf(api.GET("/manage/v1/projects", { params: { query } }))),
  staleTime: 60_000,
});
