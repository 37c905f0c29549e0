import type { Body, Environment, Item } from "../../api/answer.ts";
import type { Project } from "../../api/projects.ts";
import { mayActAs, type Role } from "../../api/session.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";

export type TokenForm = {
  name: string;
  role: Role;
  managesAccess: boolean;
  /** Scope: "" for the whole workspace, otherwise "1/live". */
  reach: string;
  /** Lifetime in days, "" for no expiry, or "day" for a selected day. */
  lasts: string;
  day: string;
};

export const LASTING = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
  { value: "day", label: "On a specific date" },
  { value: "", label: "Never" },
];

export function reachOptions(projects: readonly Project[]) {
  return [
    ...projects.flatMap(({ id, name }) => [
      { value: `${id}/test`, label: `${name} (Test)` },
      { value: `${id}/live`, label: `${name} (Live)` },
    ]),
    { value: "", label: "Whole workspace" },
  ];
}

/** Only workspace tokens with role admin or higher can manage members and tokens. */
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

/** Expiry of the token. A selected day is included, in UTC. */
function endOf(lasts: string, day: string, now: number): string {
  const at = lasts === "day" ? Date.parse(`${day}T00:00:00Z`) + DAY_MS : now + Number(lasts) * DAY_MS;
  return new Date(at).toISOString();
}

export function isEnvironment(text: string | undefined): text is Environment {
  return text === "test" || text === "live";
}

export type Token = Item<"listTokens">;

/** Scope of a token: "My product (Live)". */
export function reachOf({ projectId, environment }: Token, projects: readonly Project[]): string {
  if (projectId === null) return "Whole workspace";
  const name = projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`;
  return environment === null ? name : `${name} (${ENVIRONMENT_NAMES[environment]})`;
}
