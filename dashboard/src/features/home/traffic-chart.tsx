import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { formatCount } from "../../format/numbers.ts";
import { type Clock, formatTime, formatTimeOfDay } from "../../format/times.ts";
import { GRID, X_AXIS, Y_AXIS } from "../../ui/chart.ts";
import { useClock } from "../../ui/time.tsx";
import { type Hour, SERIES } from "./queries.ts";

/** Requests by hour and outcome. The table shows the same numbers. */
export function TrafficChart({ hours }: { hours: readonly Hour[] }) {
  const clock = useClock();
  return (
    <div
      role="img"
      aria-label="Requests by hour, as bars. The table has the same numbers."
      className="h-full text-caption"
    >
      {/* Fixed height: Recharts warns if its container is hidden while the next page loads. */}
      <ResponsiveContainer width="100%" height={204}>
        <BarChart
          data={[...hours]}
          margin={{ top: 8, right: 0, bottom: 0, left: 0 }}
          accessibilityLayer={false}
        >
          <CartesianGrid {...GRID} />
          <XAxis
            dataKey="hour"
            tickFormatter={(hour: string) => formatTimeOfDay(hour, clock)}
            interval="equidistantPreserveStart"
            {...X_AXIS}
          />
          <YAxis {...Y_AXIS} />
          <Tooltip
            cursor={{ fill: "var(--hover)" }}
            content={({ active, payload }) => (
              <Tip hour={active ? payload[0]?.payload : undefined} clock={clock} />
            )}
          />
          {SERIES.map(({ key, name, fill }) => (
            <Bar key={key} dataKey={key} name={name} fill={fill} stackId="all" isAnimationActive={false} />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

function Tip({ hour, clock }: { hour: Hour | undefined; clock: Clock }) {
  if (hour === undefined) return null;
  return (
    <div className="rounded-md border border-line bg-surface px-3 py-2 text-caption shadow-over">
      <p className="font-medium">{formatTime(hour.hour, clock)}</p>
      {SERIES.map(({ key, name, dot }) => (
        <p key={key} className="flex items-center gap-1.5 tabular-nums">
          <span aria-hidden className={`size-2 rounded-full ${dot}`} />
          {name}
          <span className="ml-auto pl-4 font-medium">{formatCount(hour[key])}</span>
        </p>
      ))}
    </div>
  );
}
