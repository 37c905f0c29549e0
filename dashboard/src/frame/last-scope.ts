import type { Scope } from "../api/answer.ts";
import type { Project } from "../api/projects.ts";

const NAME = "purser.place";

export function rememberScope({ projectId, environment }: Scope): void {
  localStorage.setItem(NAME, `${projectId}/${environment}`);
}

/** The last visited environment, or the test environment of the first project. */
export function findLastScope(projects: readonly Project[]): Scope | null {
  const [projectId, environment] = (localStorage.getItem(NAME) ?? "").split("/");
  const known = projects.find(({ id }) => id === projectId);
  if (known !== undefined && (environment === "test" || environment === "live")) {
    return { projectId: known.id, environment };
  }
  const [first] = projects;
  return first === undefined ? null : { projectId: first.id, environment: "test" };
}
