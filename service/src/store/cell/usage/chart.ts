import { readBigInt, readInstant, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type {
  CustomerNumber,
  EnvironmentId,
  EventKey,
  FeatureId,
  Instant,
  PoolId,
} from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { bucketsOf, type Division, STEP } from "./buckets.ts";
import { daysOf, IS_WHOLE, slotOf, startOf, usedOn, utcDate } from "./customer-days.ts";
import { METER_KIND_NUMBER, type MeterKind } from "./rows.ts";

export type Measure = "count" | "quantity" | "credits";
/** As bigint, because ten of the largest charges exceed what a number holds exactly. */
export type Used = Readonly<Record<Measure, bigint>>;

/** Usage of one kind, in a range of whole 15-minute buckets. */
export type UsageScope = {
  readonly environmentId: EnvironmentId;
  readonly kind: MeterKind;
  readonly from: Instant;
  readonly to: Instant;
  /** Includes only this event key or feature. Null includes all event keys or features. */
  readonly event: EventKey | null;
  readonly feature: FeatureId | null;
  readonly pool: PoolId | null;
};

/**
 * Uses the first five parameters of every statement below. It is an array, because the planner assumes that an array has several
 * elements. The table is too small for autovacuum to analyze, and a plan for one meter would read all roll-ups once for each meter.
 */
const METER_IDS = `array(
      select m.id
      from cell.meters as m
      where m.environment_id = $1
        and m.kind = $2
        and ($3::text is null or m.key = $3)
        and ($4::integer is null or m.feature_id = $4)
        and ($5::integer is null or m.pool_id = $5)
    )`;

/** `+ 0` prevents an index search, which some releases of PostgreSQL would repeat for each meter. */
export const IS_METER = (id: string): string => `${id} + 0 = any (${METER_IDS})`;

export const METERS_OF_SCOPE = `
    join unnest(${METER_IDS}) as w (meter_id) on w.meter_id = s.meter_id
    where s.environment_id = $1`;

export function scopeParameters({ environmentId, kind, event, feature, pool }: UsageScope) {
  return [environmentId, METER_KIND_NUMBER[kind], event, feature, pool];
}

const IN_RANGE = `
      and s.bucket >= $6::timestamptz
      and s.bucket < $7::timestamptz`;

const OF_METER = "join cell.meters as m on m.environment_id = $1 and m.id = d.divisor";
/** SQL for the group and the key of a chart line. Meters are joined last, when few rows are left. */
const GROUPS = {
  none: { divisor: "null::bigint", part: "''", join: "" },
  event: { divisor: "s.meter_id", part: "m.key", join: OF_METER },
  feature: { divisor: "s.meter_id", part: "m.feature_id::text", join: OF_METER },
  reason: { divisor: "s.meter_id", part: "m.reason::text", join: OF_METER },
  customer: { divisor: "s.customer_number", part: "d.divisor::text", join: "" },
} as const;
export type Group = keyof typeof GROUPS;

export type ChartPoint = Used & {
  /** The group of the line. Null for the line that combines all lines except the largest. */
  readonly group: string | null;
  readonly at: Instant;
};

const SUMS = "sum(u.count), sum(u.quantity), sum(u.credits)";

export const SUMMED = "sum(s.count) as count, sum(s.quantity) as quantity, sum(s.credits) as credits";

const BUCKET_PARAMETERS = { from: "$6", to: "$7", bucket: "$8", timeZone: "$9", step: "$12" } as const;

/** One range scan for each bucket of the chart, because computing the bucket of each row takes three times as long. */
const divideAll = (divisor: string): string => `
    select u.divisor, b.at, u.count, u.quantity, u.credits
    from buckets as b
    cross join lateral (
      select ${divisor} as divisor, ${SUMMED}
      from cell.usage_buckets as s
      ${METERS_OF_SCOPE}
        and s.bucket >= b.since
        and s.bucket < b.until
      group by divisor
      offset 0
    ) as u`;

/**
 * The UTC days of the range. `first` is the chart bucket in which a day begins, and `cuts` are the slots at which the next buckets
 * begin. A whole day is read from the daily roll-up. Slots are compared as integers, which takes half the time of timestamps.
 */
const DAYS_OF_CHART = `
      select
        d.day,
        d.slot_from,
        d.slot_to,
        width_bucket(${startOf("d.day")}, t.starts) as first,
        coalesce(d.cuts, '{}') as cuts,
        ${IS_WHOLE} and d.cuts is null as is_whole
      from (
        select
          d.day,
          max(d.slot_from) as slot_from,
          max(d.slot_to) as slot_to,
          array_agg(d.cut order by d.cut) filter (where d.cut > 0) as cuts
        from (
          select d.day, d.slot_from, d.slot_to, null::integer as cut
          from (${daysOf("$6", "$7")}) as d
          union all
          select ${utcDate("b.since")}, null, null, ${slotOf("b.since")}
          from buckets as b
        ) as d
        group by d.day
      ) as d
      cross join starts as t`;

const OF_CUSTOMERS_AND_DAYS = usedOn({
  isWhole: "d.is_whole",
  isMeter: IS_METER("c.meter_id"),
  part: { ofDay: "d.first", ofSlot: "d.first + width_bucket(s.slot, d.cuts)" },
});

const divideCustomers = (divisor: string): string => `
    with days as materialized (${DAYS_OF_CHART}
    )
    select s.divisor, t.names[s.part] as at, s.count, s.quantity, s.credits
    from starts as t
    cross join lateral (
      select ${divisor} as divisor, s.part, ${SUMMED}
      from (
        select n.customer_number, c.meter_id, u.part, u.count, u.quantity, u.credits
        from days as d
        cross join unnest($13::bigint[]) as n (customer_number)
        ${OF_CUSTOMERS_AND_DAYS}
      ) as s
      group by divisor, s.part
    ) as s`;

function chart(name: string, divide: (divisor: string) => string, group: Group) {
  const { divisor, part, join } = GROUPS[group];
  return statement(
    name,
    `
  with buckets as materialized (${bucketsOf(BUCKET_PARAMETERS)}
  ), starts as materialized (
    select array_agg(b.since order by b.since) as starts, array_agg(b.at order by b.since) as names
    from buckets as b
  ), divided as materialized (${divide(divisor)}
  ), used as materialized (
    select ${part} as part, d.at, sum(d.count) as count, sum(d.quantity) as quantity, sum(d.credits) as credits
    from divided as d
    ${join}
    group by part, d.at
  ), ranked as (
    select
      u.part,
      row_number() over (
        order by sum(case $10 when 'count' then u.count when 'quantity' then u.quantity else u.credits end) desc, u.part
      ) as rank
    from used as u
    group by u.part
  )
  select
    case when r.rank <= $11 then u.part end as part,
    (extract(epoch from u.at) * 1000)::bigint as at,
    ${SUMS},
    min(r.rank) as rank
  from used as u
  join ranked as r on r.part = u.part
  group by case when r.rank <= $11 then u.part end, u.at
  order by rank, at`,
  );
}

const OF_ALL = {
  none: chart("usage_chart.of_all", divideAll, "none"),
  event: chart("usage_chart.of_all_by_event", divideAll, "event"),
  feature: chart("usage_chart.of_all_by_feature", divideAll, "feature"),
  reason: chart("usage_chart.of_all_by_reason", divideAll, "reason"),
} as const;

const OF_CUSTOMERS = {
  none: chart("usage_chart.of_customers", divideCustomers, "none"),
  event: chart("usage_chart.of_customers_by_event", divideCustomers, "event"),
  feature: chart("usage_chart.of_customers_by_feature", divideCustomers, "feature"),
  reason: chart("usage_chart.of_customers_by_reason", divideCustomers, "reason"),
  customer: chart("usage_chart.of_customers_by_customer", divideCustomers, "customer"),
} as const;

export type ChartOptions = Division & {
  /** The measure by which lines are ranked. */
  readonly by: Measure;
  /** Maximum number of lines. If there are more, the smallest ones are combined into one. */
  readonly linesMax: number;
};

/**
 * Charts the usage of all customers. Returns the largest line first, and the earliest point first within a line. A bucket without usage has
 * no point.
 */
export async function chartAll(
  tx: Tx,
  scope: UsageScope,
  group: keyof typeof OF_ALL,
  options: ChartOptions,
): Promise<ChartPoint[]> {
  // Unnamed, so that PostgreSQL plans it for the given range.
  const { rows } = await tx.run({ ...OF_ALL[group], name: "" }, parametersOf(scope, options));
  return rows.map(readPoint);
}

/** The same chart for some customers. */
export async function chartCustomers(
  tx: Tx,
  scope: UsageScope,
  customers: readonly CustomerNumber[],
  group: Group,
  options: ChartOptions,
): Promise<ChartPoint[]> {
  const parameters = [...parametersOf(scope, options), `{${customers.join(",")}}`];
  const { rows } = await tx.run({ ...OF_CUSTOMERS[group], name: "" }, parameters);
  return rows.map(readPoint);
}

function parametersOf(scope: UsageScope, { bucket, timeZone, by, linesMax }: ChartOptions) {
  const range = [formatTimestamp(scope.from), formatTimestamp(scope.to)];
  return [...scopeParameters(scope), ...range, bucket, timeZone, by, linesMax, STEP[bucket]];
}

function readPoint([group, at, ...used]: readonly unknown[]): ChartPoint {
  return { group: readNullable(group, readText), at: readInstant(at), ...readUsed(used) };
}

/** Reads the three sums. They are null if there were no rows. */
export function readUsed([count, quantity, credits]: readonly unknown[]): Used {
  const read = (sum: unknown): bigint => readNullable(sum, readBigInt) ?? 0n;
  return { count: read(count), quantity: read(quantity), credits: read(credits) };
}

const SUM = statement(
  "usage_chart.sum",
  `
  select sum(s.count), sum(s.quantity), sum(s.credits)
  from cell.usage_buckets as s
  ${METERS_OF_SCOPE}
  ${IN_RANGE}`,
);

/** The total usage of all customers. */
export async function sumUsage(tx: Tx, scope: UsageScope): Promise<Used> {
  const range = [formatTimestamp(scope.from), formatTimestamp(scope.to)];
  const { rows } = await tx.run({ ...SUM, name: "" }, [...scopeParameters(scope), ...range]);
  return readUsed(rows[0] ?? []);
}
