import { useQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { featureNamesQuery } from "../../api/catalog-lists.ts";
import { type Usage, usageQuery } from "../../api/usage.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { type Clock, startOf } from "../../format/times.ts";
import { askedOf, type Measure, type UsageAsked, type UsageSearch } from "../../format/usage-search.ts";
import { useClock } from "../time.tsx";

type Line = Usage["lines"][number];

/** One of the lines that a chart stacks; the last may be all others together. */
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
  /** Before the history window: nothing is known here. */
  readonly isBefore: boolean;
  readonly total: number;
  readonly values: Readonly<Record<string, number>>;
};

/** What was asked for, answered, and ready to be shown. */
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
  if (key === null) return groupBy === "customer" ? "An erased customer" : `Without ${field ?? "one"}`;
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

/** The buckets that were asked for and that the window hides, so that its edge has a place. */
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

/** What an address asks for, and the answer. What goes wrong stands where it was asked: the filters stay. */
export function useUsage(place: Place, search: UsageSearch) {
  const clock = useClock();
  const asked = askedOf(search, Date.now(), clock);
  const { data, error } = useQuery(usageQuery(place, asked));
  const { data: names = NO_NAMES } = useQuery(featureNamesQuery(place));
  return {
    asked,
    error,
    shown:
      data === undefined || error !== null
        ? null
        : showUsage(data.usage, { asked: data.asked, names, clock }),
  };
}
