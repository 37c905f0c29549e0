import { choice, text } from "./search.ts";
import { type Bucket, type Clock, startOf, zoneOf } from "./times.ts";
import { bucketFor, bucketsFor, type RangeSearch, rangeOf, readRangeSearch } from "./usage-range.ts";

/** Metrics and their API parameters. */
export const METRICS = {
  credits: { name: "Credits charged", source: "charges", by: "credits" },
  charges: { name: "Charges", source: "charges", by: "count" },
  overage: { name: "Overage", source: "overage", by: "credits" },
  events: { name: "Usage events", source: "events", by: "count" },
  quantity: { name: "Event quantity", source: "events", by: "quantity" },
  denials: { name: "Denials", source: "denials", by: "count" },
} as const;

type What = keyof typeof METRICS;
export type Source = (typeof METRICS)[What]["source"];
export type Measure = (typeof METRICS)[What]["by"];

export const GROUP_NAMES = {
  feature: "Feature",
  event: "Event key",
  reason: "Reason",
  customer: "Customer",
  member: "Member",
  metadata: "Metadata",
  nothing: "None",
} as const;

export type GroupBy = keyof typeof GROUP_NAMES;

/** The first group is the default. */
export const GROUPS = {
  charges: ["feature", "customer", "member", "metadata", "nothing"],
  overage: ["feature", "customer", "nothing"],
  events: ["event", "customer", "member", "metadata", "nothing"],
  denials: ["reason", "feature", "customer", "nothing"],
} as const satisfies Record<Source, readonly GroupBy[]>;

/** Whether usage of this source can be filtered by pool. */
export function hasPools(source: Source): boolean {
  return source === "charges" || source === "overage";
}

export const TOPS = [3, 6, 8] as const;
type Top = (typeof TOPS)[number];
const DEFAULT_TOP = 6;

const readText = text();

/** Chart settings in the URL. */
export type UsageSearch = RangeSearch & {
  what?: What;
  bucket?: Bucket;
  groupBy?: GroupBy;
  field?: string;
  top?: Top;
  feature?: string;
  pool?: string;
  event?: string;
  customerId?: string;
};

export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const what = keyOf(METRICS, search["what"]);
  const { source } = METRICS[what ?? "credits"];
  const groups: readonly GroupBy[] = GROUPS[source];
  const groupBy = choice(groups)(search["groupBy"]);
  const bucket = choice(["hour", "day", "month"])(search["bucket"]);
  const top = TOPS.find((known) => known === search["top"]);
  const field = readText(search["field"]);
  const feature = source === "events" ? undefined : readText(search["feature"]);
  const pool = hasPools(source) ? readText(search["pool"]) : undefined;
  const event = source === "events" ? readText(search["event"]) : undefined;
  const customerId = readText(search["customerId"]);
  return {
    ...readRangeSearch(search),
    ...(what === undefined || what === "credits" ? {} : { what }),
    ...(bucket === undefined ? {} : { bucket }),
    ...(groupBy === undefined || groupBy === groups[0] ? {} : { groupBy }),
    ...(field === undefined || groupBy !== "metadata" ? {} : { field }),
    ...(top === undefined || top === DEFAULT_TOP ? {} : { top }),
    ...(feature === undefined ? {} : { feature }),
    ...(pool === undefined ? {} : { pool }),
    ...(event === undefined ? {} : { event }),
    ...(customerId === undefined ? {} : { customerId }),
  };
}

/** Chart settings with all defaults filled in. */
export type UsageSettings = ReturnType<typeof usageSettingsOf>;

export function usageSettingsOf(search: UsageSearch, now: number, clock: Clock) {
  const { what = "credits", groupBy, field, top = DEFAULT_TOP, feature, pool, event, customerId } = search;
  const { source, by, name } = METRICS[what];
  const { from, to } = rangeOf(search, now, clock);
  const span = (to ?? now) - from;
  const bucket = bucketsFor(span).find((fitting) => fitting === search.bucket) ?? bucketFor(span);
  return {
    what,
    name,
    source,
    by,
    from,
    to,
    span,
    bucket,
    groupBy: groupBy ?? GROUPS[source][0],
    field: field ?? null,
    top,
    timeZone: zoneOf(clock),
    filters: {
      ...(feature === undefined ? {} : { feature }),
      ...(pool === undefined ? {} : { pool }),
      ...(event === undefined ? {} : { event }),
      ...(customerId === undefined ? {} : { customerId }),
    },
  } as const;
}

function keyOf<Known extends string>(known: Record<Known, unknown>, value: unknown): Known | undefined {
  return (Object.keys(known) as Known[]).find((key) => key === value);
}

/** Zooms in on one hour, day or month. */
export function narrowTo(at: string, { bucket }: UsageSettings, clock: Clock) {
  const to = startOf(bucket, Date.parse(at), clock, 1);
  return { from: at, to: new Date(to).toISOString(), range: undefined, bucket: undefined };
}
