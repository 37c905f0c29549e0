import { queryOptions } from "@tanstack/react-query";
import type { Environment, Item, Scope } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

export type Project = Item<"listProjects">;

/** Whether the member has a role in the environment. */
export function hasEnvironment(project: Project, wanted: Environment): boolean {
  return project.environments.some(({ environment }) => environment === wanted);
}

/** The wanted environment of a project, or its first environment in which the member has a role. */
export function scopeIn(project: Project, wanted: Environment): Scope {
  const [first] = project.environments;
  const environment = hasEnvironment(project, wanted) ? wanted : (first?.environment ?? wanted);
  return { projectId: project.id, environment };
}

export const projectsQuery = queryOptions({
  ...wholeListOf("/manage/v1/projects", {}),
  staleTime: 60_000,
});
