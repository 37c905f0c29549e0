import type { Answer } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { queryClient } from "../../api/query-client.ts";
import { keepNewSecret } from "./new-secret.ts";
import { SAMPLE_CATALOG } from "./sample-catalog.ts";

export const SAMPLE_BODY = { catalog: SAMPLE_CATALOG, reach: "new_assignments" } as const;

/** Its keys are in this answer and nowhere else: they are kept before anything else can fail. */
export async function beginProject(name: string): Promise<Project> {
  const { project, secrets } = await answerOf(api.POST("/manage/v1/projects", { body: { name } }));
  keepNewSecret({ projectId: project.id, environment: "test" }, secrets.test);
  keepNewSecret({ projectId: project.id, environment: "live" }, secrets.live);
  queryClient.setQueryData(projectsQuery.queryKey, (known = []) => [...known, project]);
  return project;
}

export function applySample(projectId: string): Promise<Answer<"applyCatalog">> {
  return answerOf(
    api.POST("/manage/v1/projects/{projectId}/{environment}/catalog/apply", {
      params: { path: { projectId, environment: "test" } },
      body: SAMPLE_BODY,
    }),
  );
}
