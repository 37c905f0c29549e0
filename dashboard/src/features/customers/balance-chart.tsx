import {
  Area,
  AreaChart,
  CartesianGrid,
  type DotItemDotProps,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { type Clock, formatDay, formatTime, formatTimeOfDay } from "../../format/times.ts";
import { evenTicks, GRID, X_AXIS, Y_AXIS } from "../../ui/chart.ts";
import { useClock } from "../../ui/time.tsx";
import { type BalancePoint, stepsOf } from "./balance-history.ts";

const DAY_MS = 86_400_000;
/** Room above the line, so that a constant balance does not fill the whole chart. */
const HEADROOM = 1.2;

/** Step chart, because the balance is constant between entries. The table shows the same numbers. */
export function BalanceChart({ points: all }: { points: readonly BalancePoint[] }) {
  const clock = useClock();
  const points = stepsOf(all);
  const ticks = evenTicks(Math.max(...points.map(({ balance }) => balance), 0) * HEADROOM);
  const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  return (
    <div
      role="img"
      aria-label="Balance over time as a step chart. The table has the same numbers."
      className="h-full text-caption"
    >
      <ResponsiveContainer width="100%" height="100%">
        <AreaChart
          data={points}
          margin={{ top: 12, right: 12, bottom: 0, left: 0 }}
          accessibilityLayer={false}
        >
          <CartesianGrid {...GRID} />
          <XAxis
            dataKey="at"
            type="number"
            scale="time"
            domain={["dataMin", "dataMax"]}
            tickFormatter={(at: number) => tickOf(at, to - from, clock)}
            ticks={timeTicks({ from, to, clock })}
            interval="equidistantPreserveStart"
            {...X_AXIS}
          />
          <YAxis {...Y_AXIS} domain={[0, ticks.at(-1) ?? 1]} ticks={ticks} interval={0} />
          <Tooltip
            cursor={{ stroke: "var(--line-strong)" }}
            isAnimationActive={false}
            content={({ active, payload }) => (
              <Tip point={active ? payload[0]?.payload : undefined} clock={clock} />
            )}
          />
          <Area
            dataKey="balance"
            type="stepAfter"
            stroke="var(--accent)"
            strokeWidth={2}
            fill="var(--accent-soft)"
            fillOpacity={0.5}
            isAnimationActive={false}
            dot={TopUpDot}
          />
        </AreaChart>
      </ResponsiveContainer>
    </div>
  );
}

/** A `ReferenceDot` for each top-up would take ten times as long as the whole chart. */
function TopUpDot({ cx, cy, payload }: DotItemDotProps) {
  if (!payload.isTopUp) return null;
  return <circle cx={cx} cy={cy} r={4.5} fill="var(--good)" stroke="var(--surface)" strokeWidth={2} />;
}

function Tip({ point, clock }: { point: BalancePoint | undefined; clock: Clock }) {
  if (point === undefined) return null;
  const { at, balance, entry } = point;
  return (
    <div className="rounded-md border border-line bg-surface px-3 py-2 text-caption shadow-over">
      <p className="text-muted">{formatTime(new Date(at).toISOString(), clock)}</p>
      {entry !== null && (
        <p className="tabular-nums">
          {entry.what} {formatChange(entry.amount)}
        </p>
      )}
      <p className="font-medium tabular-nums">Balance {formatCount(balance)}</p>
    </div>
  );
}

function tickOf(at: number, span: number, clock: Clock): string {
  const iso = new Date(at).toISOString();
  return span < 2 * DAY_MS ? formatTimeOfDay(iso, clock) : formatDay(iso, clock).replace(/ \d{4}$/, "");
}

const MINUTE_MS = 60_000;
const STEPS_MINUTES = [1, 5, 15, 60, 180, 360, 1_440, 2_880, 10_080, 20_160, 40_320, 120_960, 362_880];
const TICKS_MAX = 7;

/** Axis ticks at round times in the selected time zone. */
function timeTicks({ from, to, clock }: { from: number; to: number; clock: Clock }): number[] {
  const shift = clock === "utc" ? 0 : new Date(from).getTimezoneOffset() * MINUTE_MS;
  const wanted = STEPS_MINUTES.find((step) => (to - from) / (step * MINUTE_MS) <= TICKS_MAX);
  const step =
    wanted === undefined ? Math.ceil((to - from) / TICKS_MAX / DAY_MS) * DAY_MS : wanted * MINUTE_MS;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}
