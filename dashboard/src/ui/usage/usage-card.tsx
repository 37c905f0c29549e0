import { type ReactNode, Suspense, useState } from "react";
import { countOf, formatCount } from "../../format/numbers.ts";
import { capitalize } from "../../format/terms.ts";
import { BUCKET_NAMES, nameOfBucket, nameOfClock } from "../../format/times.ts";
import { LinkButton } from "../button.tsx";
import { type View, ViewSwitch } from "../choices.tsx";
import { lazyChart } from "../lazy.tsx";
import { Card, Figure } from "../page.tsx";
import { type Column, Table } from "../table.tsx";
import { Time, useClock } from "../time.tsx";
import type { UsageRow, UsageShown } from "./usage-series.ts";
import { WindowEdge } from "./window-edge.tsx";

const UsageChart = lazyChart(async () => (await import("./usage-chart.tsx")).UsageChart);

/** Whether there is any usage. Reversals alone count too, with negative totals. */
export function hasUsage({ usage }: UsageShown): boolean {
  return Object.values(usage.total).some((sum) => sum !== 0);
}

/** Usage as a chart or table, within the history window. */
export function UsageCard({
  shown,
  onNarrow,
  nothing,
}: {
  shown: UsageShown;
  /** Zooms in on one bar. */
  onNarrow: (at: string) => void;
  /** Empty state. */
  nothing: ReactNode;
}) {
  const clock = useClock();
  const [view, setView] = useState<View>("chart");
  const { settings, usage, rows } = shown;
  const isEmpty = !hasUsage(shown) && rows.every(({ total }) => total === 0);
  const hasEdge = rows.some(({ isBefore }) => isBefore);
  const isHidden = hasEdge && rows.every(({ isBefore }) => isBefore);
  return (
    <Card
      flush
      title={`${settings.name} ${BUCKET_NAMES[settings.bucket].toLowerCase()}`}
      note={
        settings.to !== null && settings.to <= Date.parse(usage.completeTo) ? undefined : (
          <>
            Complete up to <Time at={usage.completeTo} as="second" /> ({nameOfClock(clock)})
          </>
        )
      }
      actions={!isEmpty && <ViewSwitch view={view} onChange={setView} />}
    >
      {isEmpty && !hasEdge ? (
        nothing
      ) : isHidden ? null : view === "table" ? (
        <UsageTable shown={shown} onNarrow={onNarrow} />
      ) : (
        <div className="min-h-72 px-4 pt-2 pb-3">
          <Suspense>
            <UsageChart shown={shown} onNarrow={onNarrow} />
          </Suspense>
        </div>
      )}
      {hasEdge && usage.windowStart !== null && (
        <div className={isHidden ? "p-4" : "px-4 pb-4"}>
          <WindowEdge
            title={isHidden ? "Outside your history window" : "History starts here"}
            windowStart={usage.windowStart}
          />
        </div>
      )}
    </Card>
  );
}

/** The numbers in the chart, newest first. */
function UsageTable({ shown, onNarrow }: { shown: UsageShown; onNarrow: (at: string) => void }) {
  const clock = useClock();
  const { settings, series, rows } = shown;
  const columns: Column<UsageRow>[] = [
    {
      name: capitalize(settings.bucket),
      cell: ({ at }) => (
        <LinkButton onClick={() => onNarrow(at)}>{nameOfBucket(at, settings.bucket, clock)}</LinkButton>
      ),
    },
    {
      name: "Total",
      isNumber: true,
      cell: ({ total }) => <b className="font-medium">{formatCount(total)}</b>,
    },
    ...(series.length < 2 ? [] : series).map(
      ({ id, name }): Column<UsageRow> => ({
        id,
        name,
        isNumber: true,
        cell: ({ values }) => formatOrNone(values[id] ?? 0),
      }),
    ),
  ];
  return (
    <div className="max-h-96 overflow-y-auto border-t border-line">
      <Table
        label={`${settings.name} over time`}
        columns={columns}
        rows={rows.filter(({ isBefore }) => !isBefore).toReversed()}
        keyOf={({ at }) => at}
      />
    </div>
  );
}

/** Shows zeros in a muted color. */
function formatOrNone(value: number) {
  return value === 0 ? <span className="text-muted">0</span> : formatCount(value);
}

/** Total, average and peak of the range. */
export function UsageFigures({ shown, onNarrow }: { shown: UsageShown; onNarrow: (at: string) => void }) {
  const clock = useClock();
  const { settings, usage, rows } = shown;
  const busiest = rows.reduce<(typeof rows)[number] | null>(
    (most, row) => (row.total > (most?.total ?? 0) ? row : most),
    null,
  );
  // Future buckets do not count toward the average, unless an event has a time in the future.
  const within = rows.filter(
    ({ isBefore, at, total }) => !isBefore && (at <= usage.completeTo || total !== 0),
  ).length;
  const isUnderWay = settings.to === null || settings.to > Date.parse(usage.completeTo);
  const total = usage.total[settings.by];
  return (
    <div className="grid grid-cols-2 gap-3 *:first:max-sm:col-span-2 sm:grid-cols-3">
      <Figure name={settings.name} value={formatCount(total)} note={noteOf(shown)} />
      <Figure
        name={`Average per ${settings.bucket}`}
        value={formatCount(within === 0 ? 0 : Math.round(total / within))}
        note={`Over ${countOf(within, settings.bucket)}${isUnderWay ? `, including ${settings.bucket === "day" ? "today" : `this ${settings.bucket}`}` : ""}`}
      />
      <Figure
        name={`Busiest ${settings.bucket}`}
        value={formatCount(busiest?.total ?? 0)}
        note={
          busiest === null ? (
            "Nothing yet"
          ) : (
            <LinkButton onClick={() => onNarrow(busiest.at)}>
              {nameOfBucket(busiest.at, settings.bucket, clock)}
            </LinkButton>
          )
        }
      />
    </div>
  );
}

function noteOf({ settings: { what }, usage: { total } }: UsageShown): string {
  if (what === "credits") return `${countOf(total.count, "charge")}, net of reversals`;
  if (what === "charges") return `${countOf(total.credits, "credit")}, net of reversals`;
  if (what === "overage") return `${countOf(total.count, "charge")}, net of reversals. To be invoiced.`;
  if (what === "events") return `Total quantity ${formatCount(total.quantity)}`;
  if (what === "quantity") return countOf(total.count, "event");
  return "Excludes checks, and denials for customers without a plan.";
}
