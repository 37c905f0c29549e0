import type { Item } from "../../../api/answer.ts";
import type { Project } from "../../../api/projects.ts";

export type Token = Item<"listTokens">;

/** Where a token may be used: "My product, live". */
export function reachOf({ projectId, environment }: Token, projects: readonly Project[]): string {
  if (projectId === null) return "Whole workspace";
  const name = projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`;
  return `${name}, ${environment}`;
}
