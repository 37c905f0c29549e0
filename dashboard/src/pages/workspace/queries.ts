import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/pages.ts";
import { type AuditFilters, toAuditQuery } from "./audit/audit-filters.ts";
import type { Entry } from "./audit/entry.ts";

/** All at once, for nearly everybody: who the last owner is can only be told of a whole list. */
export const membersQuery = pagesOf(["members"], (cursor) =>
  answerOf(api.GET("/manage/v1/members", { params: { query: { limit: "200", ...cursor } } })),
);

export const tokensQuery = pagesOf(["tokens"], (cursor) =>
  answerOf(api.GET("/manage/v1/tokens", { params: { query: cursor } })),
);

/** Filtered pages may hold few lines or none, while there are more behind them: read on, but not for ever. */
const ENOUGH = 25;
const ROUNDS_MAX = 10;

export function auditQuery(filters: AuditFilters) {
  const query = toAuditQuery(filters);
  return pagesOf(["audit", filters], async (from) => {
    const items: Entry[] = [];
    let cursor: { cursor?: string } = from;
    for (let round = 1; ; round += 1) {
      const page = await answerOf(
        api.GET("/manage/v1/audit", { params: { query: { ...query, ...cursor } } }),
      );
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= ENOUGH || round === ROUNDS_MAX) {
        return { items, nextCursor: page.nextCursor };
      }
      cursor = { cursor: page.nextCursor };
    }
  });
}
