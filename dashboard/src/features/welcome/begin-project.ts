import text from "../../../../docs/guides/catalog.json?raw";
import type { Answer, Body } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { queryClient } from "../../api/query-client.ts";
import { allowanceInWords, costInWords, limitInWords } from "../../format/terms.ts";
import { keepNewSecret } from "./secrets.tsx";

type Catalog = Body<"applyCatalog">["catalog"];

/** The very document of the guide: what the guide explains is what is here. */
export const SAMPLE_CATALOG: Catalog = JSON.parse(text);

/** "Image generation": "10 credits per image" */
export function describeFeatures({ features = [] }: Catalog) {
  return features.map(({ key, name, unit = null, cost: { credits, per = 1 } }) => ({
    key,
    name,
    cost: costInWords({ credits, per }, unit),
  }));
}

/** "Free": "100 credits a month, at most 5 images a day" */
export function describePlans({ features = [], plans = [], defaultPlan = null }: Catalog) {
  const unitOf = (wanted: string): string | null => features.find(({ key }) => key === wanted)?.unit ?? null;
  return plans.map(({ key, name, allowances, features: included }) => ({
    key,
    name,
    isDefault: key === defaultPlan,
    terms: [
      ...allowances.map(({ rollover = 0, ...allowance }) => allowanceInWords({ ...allowance, rollover })),
      ...included.flatMap(({ feature, limit = null }) =>
        limit === null ? [] : [limitInWords(limit, unitOf(feature))],
      ),
    ].join(", "),
  }));
}

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
