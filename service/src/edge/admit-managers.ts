import type { FastifyInstance, FastifyRequest } from "fastify";
import { brandAs, type ProjectId } from "../primitives/brand.ts";
import { mayActAs, type Role } from "../primitives/role.ts";
import { type EnvironmentKind, isWellFormedManagementToken } from "../primitives/secret.ts";
import type { Scope } from "../store/control/scopes.ts";
import { addressOf, refusePlainHttp } from "./guard.ts";
import { type Principal, reaches } from "./principal.ts";
import { Problem } from "./problem.ts";
import type { ProxyWatch } from "./proxy-watch.ts";
import { readSessionCookie } from "./session-cookie.ts";

/**
 * Who may use a route of the management API: anyone; anyone who is signed in; or a role, in the whole workspace, or in the
 * project or environment that the path names.
 */
export type Access =
  | "anyone"
  | "signed_in"
  | {
      readonly role: Role;
      readonly in: "workspace" | "project" | "environment";
      /** Changes who has access: a token needs `managesAccess` beside the role. */
      readonly managesAccess?: true;
    };

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** Set before any handler of `/manage/v1` runs, but for those that anyone may use. */
    principal: Principal | null;
    /** The environment that the path names. */
    scope: Scope | null;
    /** Refuses who may not do this any more. For what takes longer than a moment: a session, token or role can end meanwhile. */
    admitAgain: (() => Promise<void>) | null;
  }
}

/** How the edge looks up what callers show it. */
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
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Who may come in, before a byte of the body is read: the credentials, then the scope, then the role. */
export function admitManagers(
  app: FastifyInstance,
  parts: { authenticator: ManagerAuthenticator; proxies: ProxyWatch },
): void {
  const { authenticator } = parts;
  app.addHook("onRequest", async (request, reply) => {
    // What is about people and money is nobody's to keep.
    reply.header("cache-control", "no-store");
    parts.proxies.notice(request);
    refusePlainHttp(request, parts.proxies.isTrusted);
    const access = accessOf(request);
    const bearer = readBearer(request);
    // A token travels with no browser, and no browser adds it by itself: only cookies need the check.
    if (bearer === null && !SAFE_METHODS.has(request.method)) refuseForeignOrigin(request);
    if (access === "anyone") return;

    const admit = async (): Promise<Scope | null> => {
      const principal = await identify(request, bearer, authenticator);
      // First: who is refused from here on is no stranger.
      request.principal ??= principal;
      if (access === "signed_in") return null;
      if (access.in === "workspace") refuseNarrowToken(principal);
      const scope =
        access.in === "workspace" ? null : await findScopeOf(request, principal, authenticator, access.in);
      refuseLesser(principal, access);
      return scope;
    };
    request.scope = await admit();
    request.admitAgain = async () => {
      await admit();
    };
  });
}

function refuseLesser(principal: Principal, access: Exclude<Access, string>): void {
  if (!mayActAs(principal.role, access.role)) {
    throw new Problem("role_missing", {
      detail: `This needs the role \`${access.role}\`, and you have \`${principal.role}\`.`,
    });
  }
  if (access.managesAccess === true && !principal.managesAccess) {
    throw new Problem("capability_missing", {
      detail: "This token was created without `managesAccess`, so it cannot manage members, links or tokens.",
    });
  }
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
      "Sign in, or send `Authorization: Bearer <management token>`. The session or token may have ended or been revoked.",
  });
}

/** Another site's page can make a browser send our cookie; it cannot make it lie about where it came from. */
function refuseForeignOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  if (origin === undefined && site === undefined) return;
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  throw new Problem("origin_not_allowed", {
    detail: "This call came from a page of another site, and changes are only taken from Purser's own pages.",
  });
}

function refuseNarrowToken({ environmentId }: Principal): void {
  if (environmentId === null) return;
  throw new Problem("role_missing", {
    detail: "This token is for one environment, and this is about the whole workspace.",
  });
}

/** What belongs to another workspace, or lies out of a token's reach, answers as if it were missing. */
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
    // A project as a whole is out of a narrow token's reach.
    if (
      scope !== null &&
      reaches(principal, scope) &&
      (level === "environment" || principal.environmentId === null)
    ) {
      return scope;
    }
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
  if (access === undefined) throw new Error(`${request.routeOptions.url} does not say who may use it`);
  return access;
}

function readBearer(request: FastifyRequest): string | null {
  const { authorization } = request.headers;
  // Another scheme is not mistaken for a session's silence.
  if (authorization === undefined) return null;
  return BEARER.exec(authorization)?.[1] ?? "";
}
