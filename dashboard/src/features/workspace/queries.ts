import { queryOptions } from "@tanstack/react-query";
import type { Answer, Environment } from "../../api/answer.ts";
import { answerOf, api, queryOf } from "../../api/client.ts";
import { pagesBy, pagesOf, readList, readPage } from "../../api/lists.ts";
import type { Roles } from "../../api/session.ts";
import { type AuditFilters, toAuditQuery } from "../audit/audit-filters.ts";
import type { Entry } from "../audit/entry.ts";

/** One large page, because finding the last owner needs the whole list. */
export const membersQuery = pagesOf("/manage/v1/members", { params: { query: { limit: "200" } } });

/** Never cached, because users base decisions on this data. */
export function memberAccessQuery(id: string) {
  return queryOf(
    "get",
    "/manage/v1/members/{id}/access",
    { params: { path: { id } } },
    { staleTime: 0, gcTime: 0 },
  );
}

export const tokensQuery = pagesOf("/manage/v1/tokens", {});

/** Never cached: another browser may have logged in. */
export const sessionsQuery = queryOf(
  "get",
  "/manage/v1/sessions",
  {},
  { staleTime: 0, select: ({ items }: Answer<"listSessions">) => items },
);

/** How the member can log in. Never cached: another browser may have connected an account. */
export const ownSignOnQuery = queryOf("get", "/manage/v1/session/sign-on", {}, { staleTime: 0 });

export const signOnSettingsQuery = queryOf("get", "/manage/v1/single-sign-on/settings");

/** Never cached: another browser may have used a recovery code. */
export const passkeysQuery = queryOf("get", "/manage/v1/passkeys", {}, { staleTime: 0 });

export const workspaceQuery = queryOf("get", "/manage/v1/workspace");

/** Health and the clock offset, assuming that the database clock is read in the middle of the call. */
export const healthQuery = queryOptions({
  queryKey: ["get", "/manage/v1/health"],
  queryFn: async () => {
    const askedAt = Date.now();
    const health = await answerOf(api.GET("/manage/v1/health"));
    const clockOffsetMs = Date.parse(health.databaseClock) - (askedAt + Date.now()) / 2;
    return { ...health, clockOffsetMs };
  },
  staleTime: 0,
  meta: { showsOwnErrors: true },
});

const PLANS_PATH = "/manage/v1/projects/{projectId}/{environment}/plans";

/** Default plans of both environments, or null. */
export function defaultPlansQuery(projectId: string) {
  const read = async (environment: Environment) => {
    const params = { path: { projectId, environment }, query: { archived: "false" } } as const;
    const { items } = await readList(PLANS_PATH, { params });
    return items.find(({ isDefault }) => isDefault) ?? null;
  };
  return queryOptions({
    queryKey: ["get", PLANS_PATH, projectId, "default"],
    queryFn: async () => ({ test: await read("test"), live: await read("live") }),
    // Can change on the plan page.
    staleTime: 0,
  });
}

/**
 * A filtered page can be nearly empty even if more pages follow. Further pages are read until this number of entries or `ROUNDS_MAX` is
 * reached.
 */
const ENOUGH = 25;
const ROUNDS_MAX = 10;

/** The workspace's audit log. For a member with roles only in projects, the log of the environment in the filters. */
export function auditQuery(filters: AuditFilters, { role }: Roles) {
  const request = { params: { query: toAuditQuery(filters) } };
  const read = role === null ? readEnvironmentAudit : readWorkspaceAudit;
  return pagesBy(["get", "/manage/v1/audit", request], async (from) => {
    const items: Entry[] = [];
    let cursor: { cursor?: string } = from;
    for (let round = 1; ; round += 1) {
      const page = await read(request.params.query, cursor);
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= ENOUGH || round === ROUNDS_MAX) {
        return { items, nextCursor: page.nextCursor };
      }
      cursor = { cursor: page.nextCursor };
    }
  });
}

type AuditQuery = ReturnType<typeof toAuditQuery>;

function readWorkspaceAudit(query: AuditQuery, cursor: { cursor?: string }) {
  return readPage("/manage/v1/audit", { params: { query } }, cursor);
}

function readEnvironmentAudit(
  { projectId = "", environment = "test", ...query }: AuditQuery,
  cursor: { cursor?: string },
) {
  const path = { projectId, environment };
  return readPage("/manage/v1/projects/{projectId}/{environment}/audit", { params: { path, query } }, cursor);
}
