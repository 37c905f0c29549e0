import type { FastifyInstance, FastifyRequest } from "fastify";
import { assert } from "../primitives/assert.ts";
import { brandAs, type ProjectId } from "../primitives/brand.ts";
import { highestRole, mayActAs, type Role, roleIn, roleInProject } from "../primitives/role.ts";
import { type EnvironmentKind, isWellFormedManagementToken } from "../primitives/secret.ts";
import type { Scope } from "../store/control/scopes.ts";
import { addressOf, refusePlainHttp } from "./guard.ts";
import type { Principal } from "./principal.ts";
import { Problem } from "./problem.ts";
import type { ProxyWatch } from "./proxy-watch.ts";
import { readSessionCookie } from "./session-cookie.ts";

/**
 * The access that a management API route requires: none, any authenticated principal, or a role. The role must apply to the whole
 * workspace, to the project or environment in the path, or anywhere. An operation that requires a role anywhere returns only what
 * the caller can reach.
 */
export type Access =
  | "anyone"
  | "signed_in"
  | {
      readonly role: Role;
      readonly in: "workspace" | "project" | "environment" | "anywhere";
      /** For operations that change who has access. A token needs `managesAccess` in addition to the role. */
      readonly managesAccess?: true;
    };

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** Set before every handler of `/manage/v1`. Null if `access` is "anyone". */
    principal: Principal | null;
    /** The scope in the path. For a project route, an environment of the project. Null for other routes. */
    scope: Scope | null;
    /** Checks access again during a long operation, because the session, token or role may have changed since the request began. */
    admitAgain: (() => Promise<void>) | null;
  }
}

/** Looks up credentials and scopes. */
export type ManagerAuthenticator = {
  findSession(token: string, address: string): Promise<Principal | null>;
  findToken(secret: string): Promise<Principal | null>;
  findScope(sought: {
    workspaceId: number;
    projectId: ProjectId;
    environment: EnvironmentKind;
  }): Promise<Scope | null>;
};

const BEARER = /^Bearer +(\S+)$/i;
/** If a body takes longer to arrive, access is checked again, because the caller may have lost it in the meantime. */
const BODY_MS_MAX = 1_000;
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Checks credentials, scope and role before the body is read, and again after a slow body. */
export function admitManagers(
  app: FastifyInstance,
  parts: { authenticator: ManagerAuthenticator; proxies: ProxyWatch },
): void {
  const { authenticator } = parts;
  app.addHook("onRequest", async (request, reply) => {
    // Responses contain personal and billing data.
    reply.header("cache-control", "no-store");
    parts.proxies.notice(request);
    refusePlainHttp(request, parts.proxies.isTrusted);
    const access = accessOf(request);
    const bearer = readBearer(request);
    // Only cookies need this check, because browsers never send a bearer token automatically.
    if (bearer === null && !SAFE_METHODS.has(request.method)) refuseForeignOrigin(request);
    if (access === "anyone") return;

    const admit = async (): Promise<Scope | null> => {
      const principal = await identify(request, bearer, authenticator);
      // Set first, so that `RejectionThrottle` does not delay authenticated callers who are rejected below.
      request.principal ??= principal;
      if (access === "signed_in") return null;
      const scope =
        access.in === "project" || access.in === "environment"
          ? await findScopeOf(request, principal, authenticator, access.in)
          : null;
      refuseLesser(principal, access, scope);
      return scope;
    };
    request.scope = await admit();
    request.admitAgain = async () => {
      await admit();
    };
  });
  app.addHook("preValidation", async (request, reply) => {
    if (request.body !== undefined && reply.elapsedTime > BODY_MS_MAX) await request.admitAgain?.();
  });
}

type RoleAccess = Exclude<Access, string>;

function refuseLesser(principal: Principal, access: RoleAccess, scope: Scope | null): void {
  const role = roleFor(principal, access.in, scope);
  if (role === null) {
    throw new Problem("role_missing", {
      detail:
        "This needs a role in the whole workspace, and you have roles only in projects or environments.",
    });
  }
  if (!mayActAs(role, access.role)) {
    throw new Problem("role_missing", {
      detail: `This needs the \`${access.role}\` role, and you have \`${role}\`.`,
    });
  }
  if (access.managesAccess === true && !principal.managesAccess) {
    throw new Problem("capability_missing", {
      detail: "This token was created without `managesAccess`, so it cannot manage members, links or tokens.",
    });
  }
}

/** The role that applies to an operation. Null if no role of the principal applies to the workspace, project or environment. */
function roleFor(principal: Principal, where: RoleAccess["in"], scope: Scope | null): Role | null {
  if (where === "workspace") return principal.role;
  if (where === "anywhere") return highestRole(principal);
  assert(scope !== null, "a path with a project has a scope");
  return where === "project" ? roleInProject(principal, scope.projectId) : roleIn(principal, scope);
}

async function identify(
  request: FastifyRequest,
  bearer: string | null,
  authenticator: ManagerAuthenticator,
): Promise<Principal> {
  const cookie = readSessionCookie(request);
  const principal =
    bearer !== null
      ? isWellFormedManagementToken(bearer)
        ? await authenticator.findToken(bearer)
        : null
      : cookie !== null
        ? await authenticator.findSession(cookie, addressOf(request))
        : null;
  if (principal !== null) return principal;
  throw new Problem("sign_in_required", {
    detail:
      "Log in, or send `Authorization: Bearer <management token>`. The session or token may have expired or been revoked.",
  });
}

/** Rejects cross-site requests. Another site can make a browser send our cookie, but cannot forge the Origin header. */
function refuseForeignOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  if (origin === undefined && site === undefined) return;
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  throw new Problem("origin_not_allowed", {
    detail: "This call came from a page on another site. Purser accepts changes only from its own pages.",
  });
}

/** Finds the scope in the path. A scope in another workspace, or without any role of the principal, is reported as not found. */
async function findScopeOf(
  request: FastifyRequest,
  principal: Principal,
  authenticator: ManagerAuthenticator,
  level: "project" | "environment",
): Promise<Scope> {
  const params = request.params as Record<string, string | undefined>;
  const projectId = readProjectId(params["projectId"]);
  const kinds = level === "project" ? (["test", "live"] as const) : [readEnvironment(params["environment"])];
  for (const environment of kinds) {
    if (projectId === null || environment === null) break;
    const scope = await authenticator.findScope({
      workspaceId: principal.workspaceId,
      projectId,
      environment,
    });
    if (scope !== null && roleFor(principal, level, scope) !== null) return scope;
  }
  throw new Problem("not_found", { detail: "There is no such project or environment." });
}

function readProjectId(text: string | undefined): ProjectId | null {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? brandAs<ProjectId>(Number(text)) : null;
}

function readEnvironment(text: string | undefined): EnvironmentKind | null {
  return text === "test" || text === "live" ? text : null;
}

function accessOf(request: FastifyRequest): Access {
  const { access } = request.routeOptions.config;
  if (access === undefined) throw new Error(`${request.routeOptions.url} has no access rule`);
  return access;
}

function readBearer(request: FastifyRequest): string | null {
  const { authorization } = request.headers;
  // For any other scheme, the token is empty and is rejected. The cookie is not used as a fallback.
  if (authorization === undefined) return null;
  return BEARER.exec(authorization)?.[1] ?? "";
}
