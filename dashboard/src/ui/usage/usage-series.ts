import { useQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { featureNamesQuery } from "../../api/catalog-lists.ts";
import { type Usage, usageQuery } from "../../api/usage.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { type Clock, startOf } from "../../format/times.ts";
import { askedOf, type Measure, type UsageAsked, type UsageSearch } from "../../format/usage-search.ts";
import { useClock } from "../time.tsx";

type Line = Usage["lines"][number];

/** One stacked series. The last can be "Other". */
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
  /** Before the history window, so without data. */
  readonly isBefore: boolean;
  readonly total: number;
  readonly values: Readonly<Record<string, number>>;
};

/** Usage prepared for display. */
export type UsageShown = {
  readonly asked: UsageAsked;
  readonly usage: Usage;
  readonly series: readonly Series[];
  readonly rows: readonly UsageRow[];
};

function showUsage(
  usage: Usage,
  { asked, names, clock }: { asked: UsageAsked; names: ReadonlyMap<string, string>; clock: Clock },
): UsageShown {
  const lines = linesOf(usage);
  const series = lines.map(({ line, id, isOther }, index) => ({
    id,
    isOther,
    key: line.key,
    total: line.total,
    name: isOther ? "Other" : nameOf(line.key, asked, names),
    fill: isOther ? "var(--series-other)" : `var(--series-${index + 1})`,
  }));
  return { asked, usage, series, rows: [...rowsBefore(usage, asked, clock), ...rowsWithin(usage, asked.by)] };
}

function linesOf({ lines, other }: Usage): { line: Line; id: string; isOther: boolean }[] {
  return [
    ...lines.map((line, index) => ({ line, id: `line-${index}`, isOther: false })),
    ...(other === null || other.points.length === 0 ? [] : [{ line: other, id: "other", isOther: true }]),
  ];
}

function nameOf(
  key: string | null,
  { groupBy, field, name }: UsageAsked,
  names: ReadonlyMap<string, string>,
): string {
  if (groupBy === "nothing" || (groupBy === "metadata" && field === null)) return name;
  if (key === null) return groupBy === "customer" ? "Erased customer" : `No ${field ?? "value"}`;
  if (groupBy === "reason") return describeReason(key);
  return groupBy === "feature" ? (names.get(key) ?? key) : key;
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
function rowsBefore({ windowStart, from, to, buckets }: Usage, asked: UsageAsked, clock: Clock): UsageRow[] {
  if (windowStart === null || Date.parse(from) <= asked.from) return [];
  const end = Date.parse(buckets[0] ?? to);
  const rows: UsageRow[] = [];
  for (let steps = 0; steps < BEFORE_MAX; steps++) {
    const at = startOf(asked.bucket, asked.from, clock, steps);
    if (at >= end) break;
    rows.push({ at: new Date(at).toISOString(), isBefore: true, total: 0, values: {} });
  }
  return rows;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Loads the usage for the settings in the URL. Errors are returned, so that the filters stay visible. */
export function useUsage(place: Place, search: UsageSearch) {
  const clock = useClock();
  const asked = askedOf(search, Date.now(), clock);
  const { data, error, refetch } = useQuery(usageQuery(place, asked));
  const { data: names = NO_NAMES } = useQuery(featureNamesQuery(place));
  return {
    asked,
    error,
    refetch,
    shown:
      data === undefined || error !== null
        ? null
        : showUsage(data.usage, { asked: data.asked, names, clock }),
  };
}
