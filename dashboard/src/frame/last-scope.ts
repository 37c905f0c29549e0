import type { Scope } from "../api/answer.ts";
import { hasEnvironment, type Project, scopeIn } from "../api/projects.ts";

const NAME = "purser.place";

export function rememberScope({ projectId, environment }: Scope): void {
  localStorage.setItem(NAME, `${projectId}/${environment}`);
}

/** The environment in the URL if the member has a role there, otherwise the last visited one. */
export function findNearestScope(here: Scope | null, projects: readonly Project[]): Scope | null {
  const project = projects.find(({ id }) => id === here?.projectId);
  const isReached = here !== null && project !== undefined && hasEnvironment(project, here.environment);
  return isReached ? here : findLastScope(projects);
}

/** The last visited environment, or the first environment of the first project. */
export function findLastScope(projects: readonly Project[]): Scope | null {
  const [projectId, environment] = (localStorage.getItem(NAME) ?? "").split("/");
  const known = projects.find(({ id }) => id === projectId);
  if (known !== undefined && (environment === "test" || environment === "live")) {
    return scopeIn(known, environment);
  }
  const [first] = projects;
  return first === undefined ? null : scopeIn(first, "test");
}
