import type { Place } from "./answer.ts";

/** Where something of an environment is in the API: what "Do this by API" shows. */
export function pathIn({ projectId, environment }: Place, ...parts: readonly string[]): string {
  return ["/manage/v1/projects", projectId, environment, ...parts.map(encodeURIComponent)].join("/");
}
