import {
  Bar,
  BarChart,
  CartesianGrid,
  ReferenceArea,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { formatCount } from "../../format/numbers.ts";
import { type Clock, nameOfBucket, tickOfBucket } from "../../format/times.ts";
import { GRID, X_AXIS, Y_AXIS } from "../chart.ts";
import { useClock } from "../time.tsx";
import type { UsageRow, UsageShown } from "./usage-series.ts";

const HEIGHT = 268;

/** Usage as stacked bars. The bars are not keyboard accessible; the table shows the same numbers. */
export function UsageChart({ shown, onNarrow }: { shown: UsageShown; onNarrow: (at: string) => void }) {
  const clock = useClock();
  const { rows, series, settings } = shown;
  const before = rows.filter(({ isBefore }) => isBefore);
  const [hidden, lastHidden] = [before[0], before.at(-1)];
  const first = rows.find(({ isBefore }) => !isBefore);
  return (
    <div
      role="img"
      aria-label={`${settings.name} over time, as stacked bars. The table has the same numbers.`}
      className="cursor-pointer text-caption"
    >
      {/* Fixed height: Recharts warns if its container is hidden while the next page loads. */}
      <ResponsiveContainer width="100%" height={HEIGHT}>
        <BarChart
          data={[...rows]}
          margin={{ top: 20, right: 0, bottom: 0, left: 0 }}
          stackOffset="sign"
          maxBarSize={72}
          accessibilityLayer={false}
          onClick={({ activeLabel }) => {
            const row = rows.find(({ at }) => at === activeLabel);
            if (row !== undefined && !row.isBefore) onNarrow(row.at);
          }}
        >
          <CartesianGrid {...GRID} />
          <XAxis
            dataKey="at"
            tickFormatter={(at: string) => tickOfBucket(at, settings.bucket, clock)}
            interval="equidistantPreserveStart"
            {...X_AXIS}
          />
          <YAxis {...Y_AXIS} />
          <Tooltip
            cursor={{ fill: "var(--hover)" }}
            isAnimationActive={false}
            content={({ active, payload }) => (
              <Tip row={active ? payload[0]?.payload : undefined} shown={shown} clock={clock} />
            )}
          />
          {hidden !== undefined && lastHidden !== undefined && (
            <ReferenceArea x1={hidden.at} x2={lastHidden.at} fill="var(--sunken)" fillOpacity={1} />
          )}
          {series.map(({ id, name, fill }) => (
            <Bar
              key={id}
              dataKey={({ values }: UsageRow) => values[id] ?? 0}
              name={name}
              fill={fill}
              stackId="all"
              isAnimationActive={false}
            />
          ))}
          {hidden !== undefined && first !== undefined && (
            <ReferenceLine
              x={first.at}
              position="start"
              stroke="var(--line-strong)"
              strokeDasharray="4 3"
              label={{
                value: "History starts here",
                // Inside the hidden area if it is wide enough.
                position: before.length / rows.length > 0.3 ? "insideTopRight" : "top",
                fill: "var(--muted)",
              }}
            />
          )}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

function Tip({
  row,
  shown: { series, settings },
  clock,
}: {
  row: UsageRow | undefined;
  shown: UsageShown;
  clock: Clock;
}) {
  if (row === undefined) return null;
  const lines = series.filter(({ id }) => (row.values[id] ?? 0) !== 0);
  return (
    <div className="max-w-72 rounded-md border border-line bg-surface px-3 py-2 text-caption shadow-over">
      <p className="flex justify-between gap-6 font-medium tabular-nums">
        {nameOfBucket(row.at, settings.bucket, clock)}
        <span>{row.isBefore ? "" : formatCount(row.total)}</span>
      </p>
      {row.isBefore && <p className="text-muted">Outside your history window.</p>}
      {series.length > 1 &&
        lines.map(({ id, name, fill }) => (
          <p key={id} className="flex items-center gap-1.5 tabular-nums">
            <span aria-hidden className="size-2 shrink-0 rounded-full" style={{ background: fill }} />
            <span className="truncate">{name}</span>
            <span className="ml-auto pl-4">{formatCount(row.values[id] ?? 0)}</span>
          </p>
        ))}
      {!row.isBefore && row.total !== 0 && (
        <p className="mt-1 text-muted">Click to zoom in on this {settings.bucket}</p>
      )}
    </div>
  );
}
