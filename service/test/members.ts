import { expect } from "vitest";
import type { Role } from "../src/primitives/role.ts";
import type { Reply } from "./harness.ts";
import { cookieOf, type Managed, send } from "./manage.ts";

export type JoinedMember = {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** Calls the management API as this member, from a browser. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
};

/** The token of the link in a reply, for example of an invitation. */
export function tokenOf({ body }: Reply): string {
  const { path } = body["link"] as { path: string };
  return path.split("#")[1] ?? "";
}

export function memberIdOf({ body }: Reply): string {
  return (body["member"] as { id: string }).id;
}

export function callerWith(headers: Record<string, string>, url: string): JoinedMember["call"] {
  return (method, path, body) =>
    send(`${url}${path}`, method, { token: null, headers, ...(body === undefined ? {} : { body }) });
}

/** A role in a project, as the API has it. */
export type WantedRole = { projectId: string; environment: "test" | "live" | null; role: Role };

/** Invites a member as the owner, and accepts the invitation. */
export async function join(
  { manage, service }: Managed,
  role: Role | null,
  name: string,
  projectRoles: readonly WantedRole[] = [],
): Promise<JoinedMember> {
  const email = `${name}@example.com`;
  const password = `${name}-has-a-long-password`;
  const invited = await manage("POST", "/manage/v1/members", { body: { email, name, role, projectRoles } });
  const body = { token: tokenOf(invited), password };
  const accepted = await send(`${service.url}/manage/v1/links`, "POST", { body });
  expect([invited.status, accepted.status]).toEqual([200, 200]);
  const call = callerWith(cookieOf(accepted, service.url), service.url);
  return { id: memberIdOf(invited), email, password, call };
}

export async function logIn({ service }: Managed, email: string, password: string): Promise<Reply> {
  return send(`${service.url}/manage/v1/session`, "POST", { body: { email, password } });
}
