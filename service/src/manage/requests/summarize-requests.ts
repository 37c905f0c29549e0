import { type Static, Type } from "typebox";
import { PROBLEMS, type ProblemCode } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  type HourlyCount,
  listRequestCounts,
  listUnknownFeatures,
  listUnnamedEvents,
  type SeenKey,
} from "../../store/cell/request-log-list.ts";
import { timeField } from "../fields.ts";
import { codeField, endpointField, reasonField } from "./describe-request.ts";

const kinds = {
  ok: Type.Integer({ description: "The number of allowed or accepted requests.", examples: [1200] }),
  denied: Type.Integer({ examples: [14] }),
  failed: Type.Integer({ description: "The number of requests that failed with an error.", examples: [3] }),
};

const SeenKeys = (description: string) =>
  Type.Array(
    Type.Object({
      key: Type.String({ examples: ["image.rendr"] }),
      requests: Type.Integer({ description: "The number of logged requests.", examples: [12] }),
      lastSeenAt: timeField,
    }),
    { description },
  );

export const RequestSummary = Type.Object({
  since: timeField,
  total: Type.Object(kinds),
  previous: Type.Object(kinds, {
    description:
      "Counts for the same number of hours before `since`. Counts are kept for 7 days, so older requests are missing.",
  }),
  byHour: Type.Array(Type.Object({ hour: timeField, ...kinds }), {
    description: "One item for every hour, oldest first.",
  }),
  byOutcome: Type.Array(
    Type.Object({
      endpoint: endpointField,
      code: codeField,
      reason: reasonField,
      requests: Type.Integer({ examples: [14] }),
    }),
    {
      description:
        "Most frequent first. An item with neither a code nor a reason counts successful requests.",
    },
  ),
  unknownFeatures: SeenKeys("Requested feature keys that are not defined."),
  unnamedEvents: SeenKeys("Recorded event keys without a name."),
});

export type RequestSummary = Static<typeof RequestSummary>;

const HOUR_MS = 3_600_000;

/** Counts requests in the last `hours` hours, including the current hour. Leaves out requests before `start`. */
export function summarizeRequests(
  cell: Pool,
  environmentId: EnvironmentId,
  { hours, start }: { readonly hours: number; readonly start: Instant | null },
): Promise<RequestSummary> {
  return single(cell, async (tx) => {
    const now = await readClock(tx);
    const since = brandAs<Instant>((Math.floor(now / HOUR_MS) - hours + 1) * HOUR_MS);
    const from = brandAs<Instant>(Math.max(since, start ?? 0));
    const before = brandAs<Instant>(Math.max(since - hours * HOUR_MS, start ?? 0));
    const all = await listRequestCounts(tx, environmentId, before);
    const counts = all.filter(({ hour }) => hour >= from);
    const features = await listUnknownFeatures(tx, environmentId, from);
    const events = await listUnnamedEvents(tx, environmentId, { since: from, start });
    return {
      since: formatTimestamp(since),
      total: sum(counts),
      previous: sum(all.filter(({ hour }) => hour < since)),
      byHour: Array.from({ length: hours }, (_, index) => {
        const hour = brandAs<Instant>(since + index * HOUR_MS);
        return { hour: formatTimestamp(hour), ...sum(counts.filter((count) => count.hour === hour)) };
      }),
      byOutcome: groupByOutcome(counts),
      unknownFeatures: features.map(describeSeen),
      unnamedEvents: events.map(describeSeen),
    };
  });
}

function describeSeen({ key, requests, lastSeenAt }: SeenKey) {
  return { key, requests, lastSeenAt: formatTimestamp(lastSeenAt) };
}

function sum(counts: readonly HourlyCount[]): { ok: number; denied: number; failed: number } {
  const sums = { ok: 0, denied: 0, failed: 0 };
  for (const { outcome, requests } of counts) sums[kindOf(outcome)] += requests;
  return sums;
}

function kindOf(outcome: string): "ok" | "denied" | "failed" {
  return outcome === "ok" ? "ok" : isProblemCode(outcome) ? "failed" : "denied";
}

function isProblemCode(outcome: string): outcome is ProblemCode {
  return Object.hasOwn(PROBLEMS, outcome);
}

function groupByOutcome(counts: readonly HourlyCount[]): RequestSummary["byOutcome"] {
  const groups = Map.groupBy(counts, ({ endpoint, outcome }) => `${endpoint} ${outcome}`);
  return [...groups.values()]
    .flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const { endpoint, outcome } = first;
      const kind = kindOf(outcome);
      return {
        endpoint,
        code: kind === "failed" ? outcome : null,
        reason: kind === "denied" ? outcome : null,
        requests: others.reduce((total, { requests }) => total + requests, first.requests),
      };
    })
    .sort((a, b) => b.requests - a.requests);
}
