import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { isServerZone, readClock } from "../../store/cell/clock.ts";
import type { Bucket, Division } from "../../store/cell/usage/buckets.ts";
import type { Used } from "../../store/cell/usage/chart.ts";
import { BUCKET_MS } from "../../store/cell/usage/extent.ts";
import { exactTotal } from "../exact-total.ts";
import { invalidField, nullable, readTime } from "../fields.ts";
import { notBefore, readHistoryStart } from "../history-window.ts";

const HOUR_MS = 4 * BUCKET_MS;
export const DAY_MS = 24 * HOUR_MS;
/** How far in the future the timestamp of an event may be. */
const AHEAD_MS = 5 * 60_000;

const ABOUT_MINUTES = "Must be at minute 00, 15, 30 or 45.";

export const rangeQuery = {
  from: Type.Optional(
    Type.String({
      format: "date-time",
      description: `Start of the range. ${ABOUT_MINUTES} Default: 30 days before \`to\`, one day for hourly buckets, or one year for monthly buckets.`,
      examples: ["2026-11-01T00:00:00Z"],
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: "date-time",
      description: `Exclusive end of the range. ${ABOUT_MINUTES} Default: 5 minutes from now, rounded up to 15 minutes.`,
      examples: ["2026-12-01T00:00:00Z"],
    }),
  ),
};

export const divisionQuery = {
  bucket: Type.Optional(
    Type.Enum(["hour", "day", "month"], { description: "The length of one bucket. Default: `day`." }),
  ),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 60,
      pattern: "^(UTC|[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$",
      description: "IANA name of the time zone for days and months. Default: `UTC`.",
      examples: ["Europe/Berlin"],
    }),
  ),
};

export const rangeAnswer = {
  from: Type.String({
    format: "date-time",
    description:
      "The start of the reported range: `from`, or the start of the history window if that is later.",
    examples: ["2026-11-01T00:00:00.000Z"],
  }),
  to: Type.String({
    format: "date-time",
    description:
      "The end of the reported range. Equal to `from` if the whole range lies before the history window.",
    examples: ["2026-11-15T08:30:00.000Z"],
  }),
  windowStart: nullable(
    Type.String({
      format: "date-time",
      description:
        "The start of the workspace's history window, rounded up to 15 minutes. Earlier usage is not included. Null if there is no limit.",
      examples: ["2026-08-17T08:45:00.000Z"],
    }),
  ),
};

export const completeToField = Type.String({
  format: "date-time",
  description:
    "All requests that got a response before this time are included. This time is usually a few seconds ago.",
  examples: ["2026-11-15T08:30:00.000Z"],
});

/** A range within the history window. If the requested range ends before the window, this range is empty and starts with the window. */
export type UsageRange = {
  readonly from: Instant;
  /** Not before `from`. */
  readonly to: Instant;
  readonly windowStart: Instant | null;
};

type Asked = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly bucket?: Bucket | undefined;
};

const DEFAULT_MS = { hour: DAY_MS, day: 30 * DAY_MS, month: 365 * DAY_MS } as const;
const LENGTH_MS = { hour: HOUR_MS, day: DAY_MS, month: 28 * DAY_MS } as const;
const BUCKETS_MAX = 1_000;

/** Limits a range to the history window, which applies to the time an event occurred. */
export async function readRange(
  pools: { readonly control: Pool; readonly cell: Pool },
  workspaceId: number,
  asked: Asked,
): Promise<UsageRange> {
  const start = await readHistoryStart(pools.control, workspaceId);
  const now = await single(pools.cell, readClock);
  const windowStart = start === null ? null : roundUp(start);
  const askedTo = readQuarter("to", asked.to) ?? roundUp(now + AHEAD_MS);
  const askedFrom = readQuarter("from", asked.from) ?? roundDown(askedTo - DEFAULT_MS[asked.bucket ?? "day"]);
  if (askedFrom >= askedTo)
    throw invalidField({ field: "from", code: "wrong_form", message: "must be before `to`" });
  const from = notBefore(windowStart, askedFrom);
  const to = notBefore(windowStart, askedTo);
  if (asked.bucket !== undefined && (to - from) / LENGTH_MS[asked.bucket] > BUCKETS_MAX) {
    const message = `makes more than ${BUCKETS_MAX} buckets: choose a shorter range or longer buckets`;
    throw invalidField({ field: "from", code: "too_long", message });
  }
  return { from, to, windowStart };
}

export function describeRange({ from, to, windowStart }: UsageRange) {
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    windowStart: windowStart === null ? null : formatTimestamp(windowStart),
  };
}

/** Checks the time zone in JavaScript and PostgreSQL, because PostgreSQL alone accepts many other strings. */
export async function readDivision(
  cell: Pool,
  query: {
    readonly bucket?: Bucket | undefined;
    readonly timeZone?: string | undefined;
  },
): Promise<Division> {
  const { bucket = "day", timeZone = "UTC" } = query;
  const isKnown =
    timeZone === "UTC" || (isTimeZone(timeZone) && (await single(cell, (tx) => isServerZone(tx, timeZone))));
  if (!isKnown)
    throw invalidField({ field: "timeZone", code: "wrong_form", message: "is not a known time zone" });
  return { bucket, timeZone };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function readQuarter(field: string, text: string | undefined): Instant | null {
  const at = readTime(field, text) ?? null;
  if (at !== null && at % BUCKET_MS !== 0)
    throw invalidField({ field, code: "wrong_form", message: "must be at minute 00, 15, 30 or 45" });
  return at;
}

function roundUp(ms: number): Instant {
  return brandAs<Instant>(Math.ceil(ms / BUCKET_MS) * BUCKET_MS);
}

function roundDown(ms: number): Instant {
  return brandAs<Instant>(Math.floor(ms / BUCKET_MS) * BUCKET_MS);
}

export const UsedFields = {
  count: Type.Integer({ description: "Number of events, charges or denials.", examples: [120] }),
  quantity: Type.Integer({ description: "The quantity, less reversals.", examples: [480] }),
  credits: Type.Integer({
    description: "Credits charged, less reversals. 0 for events and denials.",
    examples: [1200],
  }),
};
export const UsedSum = Type.Object(UsedFields);
export type UsedSum = Static<typeof UsedSum>;

export function exactUsed({ count, quantity, credits }: Used): UsedSum {
  return { count: exactTotal(count), quantity: exactTotal(quantity), credits: exactTotal(credits) };
}
