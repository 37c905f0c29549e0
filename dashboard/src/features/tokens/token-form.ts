import type { Body, Environment, Item } from "../../api/answer.ts";
import type { Project } from "../../api/projects.ts";
import { mayActAs, type Role } from "../../api/session.ts";

export type TokenForm = {
  name: string;
  role: Role;
  managesAccess: boolean;
  /** "" for the whole workspace, else "1/live". */
  reach: string;
  /** In days; "" for never, "day" for the day that was chosen. */
  lasts: string;
  day: string;
};

export const LASTING = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
  { value: "day", label: "Until a day you choose" },
  { value: "", label: "For ever" },
];

export function reachOptions(projects: readonly Project[]) {
  return [
    ...projects.flatMap(({ id, name }) => [
      { value: `${id}/test`, label: `${name}, test` },
      { value: `${id}/live`, label: `${name}, LIVE` },
    ]),
    { value: "", label: "Whole workspace: all projects, test and live" },
  ];
}

/** Members and tokens belong to the whole workspace, and to admins. */
export function mayManageAccess({ role, reach }: Pick<TokenForm, "role" | "reach">): boolean {
  return reach === "" && mayActAs(role, "admin");
}

export function toTokenBody(form: TokenForm, now: number): Body<"createToken"> {
  const { name, role, managesAccess, reach, lasts, day } = form;
  const [projectId = "", environment] = reach.split("/");
  return {
    name,
    role,
    ...(managesAccess && mayManageAccess(form) ? { managesAccess } : {}),
    ...(isEnvironment(environment) ? { projectId, environment } : {}),
    ...(lasts === "" || (lasts === "day" && day === "") ? {} : { expiresAt: endOf(lasts, day, now) }),
  };
}

const DAY_MS = 86_400_000;

/** A day that was chosen is part of it, by UTC. */
function endOf(lasts: string, day: string, now: number): string {
  const at = lasts === "day" ? Date.parse(`${day}T00:00:00Z`) + DAY_MS : now + Number(lasts) * DAY_MS;
  return new Date(at).toISOString();
}

export function isEnvironment(text: string | undefined): text is Environment {
  return text === "test" || text === "live";
}

export type Token = Item<"listTokens">;

/** Where a token may be used: "My product, live". */
export function reachOf({ projectId, environment }: Token, projects: readonly Project[]): string {
  if (projectId === null) return "Whole workspace";
  const name = projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`;
  return `${name}, ${environment}`;
}
