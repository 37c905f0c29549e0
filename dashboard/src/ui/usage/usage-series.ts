import { useQuery } from "@tanstack/react-query";
import type { Scope } from "../../api/answer.ts";
import { eventNamesQuery, featureNamesQuery } from "../../api/catalog-lists.ts";
import { type Usage, usageQuery } from "../../api/usage.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { type Clock, startOf } from "../../format/times.ts";
import {
  type Measure,
  type UsageSearch,
  type UsageSettings,
  usageSettingsOf,
} from "../../format/usage-search.ts";
import { useClock } from "../time.tsx";

type Line = Usage["lines"][number];

/** One stacked series. The last series can be "Other". */
export type Series = {
  readonly id: string;
  readonly key: string | null;
  readonly isOther: boolean;
  readonly name: string;
  readonly fill: string;
  readonly total: Line["total"];
};

export type UsageRow = {
  readonly at: string;
  /** Whether the bucket is before the history window and has no data. */
  readonly isBefore: boolean;
  readonly total: number;
  readonly values: Readonly<Record<string, number>>;
};

/** Usage prepared for display. */
export type UsageShown = {
  readonly settings: UsageSettings;
  readonly usage: Usage;
  readonly series: readonly Series[];
  readonly rows: readonly UsageRow[];
};

function showUsage(
  usage: Usage,
  { settings, names, clock }: { settings: UsageSettings; names: ReadonlyMap<string, string>; clock: Clock },
): UsageShown {
  const lines = linesOf(usage);
  const series = lines.map(({ line, id, isOther }, index) => ({
    id,
    isOther,
    key: line.key,
    total: line.total,
    name: isOther ? "Other" : nameOf(line, settings, names),
    fill: isOther ? "var(--series-other)" : `var(--series-${index + 1})`,
  }));
  return {
    settings,
    usage,
    series,
    rows: [...rowsBefore(usage, settings, clock), ...rowsWithin(usage, settings.by)],
  };
}

function linesOf({ lines, other }: Usage): { line: Line; id: string; isOther: boolean }[] {
  return [
    ...lines.map((line, index) => ({ line, id: `line-${index}`, isOther: false })),
    ...(other === null || other.points.length === 0 ? [] : [{ line: other, id: "other", isOther: true }]),
  ];
}

function nameOf(
  { key, customerName }: Line,
  { groupBy, field, name }: UsageSettings,
  names: ReadonlyMap<string, string>,
): string {
  if (groupBy === "nothing" || (groupBy === "metadata" && field === null)) return name;
  if (key === null && groupBy === "member") return "No member";
  if (key === null) return groupBy === "customer" ? "Erased customer" : `No ${field ?? "value"}`;
  if (groupBy === "reason") return describeReason(key);
  if (groupBy === "customer") return customerName ?? key;
  return groupBy === "feature" || groupBy === "event" ? (names.get(key) ?? key) : key;
}

function rowsWithin(usage: Usage, by: Measure): UsageRow[] {
  const lines = linesOf(usage).map(({ line, id }) => ({
    id,
    values: new Map(line.points.map((point) => [point.at, point[by]])),
  }));
  return usage.buckets.map((at) => {
    const values = Object.fromEntries(lines.map(({ id, values }) => [id, values.get(at) ?? 0]));
    const total = Object.values(values).reduce((sum, value) => sum + value, 0);
    return { at, isBefore: false, total, values };
  });
}

const BEFORE_MAX = 400;

/** Empty rows for the part of the range that the history window hides. */
function rowsBefore(
  { windowStart, from, to, buckets }: Usage,
  settings: UsageSettings,
  clock: Clock,
): UsageRow[] {
  if (windowStart === null || Date.parse(from) <= settings.from) return [];
  const end = Date.parse(buckets[0] ?? to);
  const rows: UsageRow[] = [];
  for (let steps = 0; steps < BEFORE_MAX; steps++) {
    const at = startOf(settings.bucket, settings.from, clock, steps);
    if (at >= end) break;
    rows.push({ at: new Date(at).toISOString(), isBefore: true, total: 0, values: {} });
  }
  return rows;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Loads the usage for the settings in the URL. Errors are returned, so that the filters stay visible. */
export function useUsage(scope: Scope, search: UsageSearch) {
  const clock = useClock();
  const settings = usageSettingsOf(search, Date.now(), clock);
  const { data, error, refetch } = useQuery(usageQuery(scope, settings));
  const { data: features = NO_NAMES } = useQuery(featureNamesQuery(scope));
  const { data: events = NO_NAMES } = useQuery(eventNamesQuery(scope));
  return {
    settings,
    error,
    refetch,
    shown:
      data === undefined || error !== null
        ? null
        : showUsage(data.usage, {
            settings: data.settings,
            names: data.settings.groupBy === "event" ? events : features,
            clock,
          }),
  };
}
