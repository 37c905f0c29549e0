import type { Session } from "../../postgres/session.ts";
import {
  addRequestCounts,
  insertRequestLog,
  type LoggedRequest,
  type RequestCount,
} from "../../store/cell/request-log.ts";
import type { Instant } from "../../words/brand.ts";
import { DAY_MS, LOG_DAYS } from "./act.ts";
import type { Moment } from "./moment.ts";

const HOUR_MS = 3_600_000;

type Line = { readonly at: Instant; readonly logged: Omit<LoggedRequest, "ageMs"> };

/**
 * What the log would still remember, written hour by hour as if at each hour's end: its ids follow time, and all of
 * them lie before those of whoever writes next.
 */
export async function writeRequestLog(
  session: Session,
  moments: readonly Moment[],
  now: Instant,
): Promise<void> {
  const lines = moments
    .flatMap(({ at, logged }): Line[] => (logged === null ? [] : [{ at, logged }]))
    .filter(({ at }) => at >= now - LOG_DAYS * DAY_MS)
    .sort((a, b) => a.at - b.at);
  const hours = Map.groupBy(lines, ({ at }) => Math.floor(at / HOUR_MS));
  await session.trip(() =>
    [...hours.values()].flatMap((hour) => {
      const endedAt = hour.at(-1)?.at ?? now;
      const requests = hour.map(({ at, logged }) => ({ ...logged, ageMs: endedAt - at }));
      return [
        insertRequestLog(session, requests, endedAt * 1000),
        addRequestCounts(session, countAll(requests), endedAt * 1000),
      ];
    }),
  );
}

function countAll(requests: readonly LoggedRequest[]): RequestCount[] {
  const groups = Map.groupBy(
    requests,
    ({ endpoint, code, reason }) => `${endpoint} ${code ?? reason ?? "ok"}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { environmentId, endpoint, code, reason } = first;
    return [{ environmentId, endpoint, outcome: code ?? reason ?? "ok", requests: group.length }];
  });
}
