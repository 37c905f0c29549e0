import { queryOptions } from "@tanstack/react-query";
import type { Item } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

export type Project = Item<"listProjects">;

export const projectsQuery = queryOptions({
  ...wholeListOf("/manage/v1/projects", {}),
  staleTime: 60_000,
});
