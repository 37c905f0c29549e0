import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { CustomerNumber, Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { Division } from "./buckets.ts";
import { readUsed, type UsageScope, type Used } from "./chart.ts";

// Roll-ups contain neither members nor metadata, so the rows of the customer or environment are read, up to a limit.

// An event is recorded at most a few weeks after, or a few minutes before, its timestamp. This limits the partitions that are read.
const EVENTS = `
    select
      r.customer_number,
      r.occurred_at as at,
      r.event as key,
      null::integer as feature_id,
      null::integer as pool_id,
      1 as count,
      r.quantity::numeric as quantity,
      0::numeric as credits,
      case when $10::text is null then r.member_id else r.metadata ->> $10 end as part
    from cell.events as r
    where r.environment_id = $1
      and ($6::bigint is null or r.customer_number = $6)
      and r.occurred_at >= $2::timestamptz
      and r.occurred_at < $3::timestamptz
      and r.recorded_at >= $2::timestamptz - interval '1 day'
      and r.recorded_at < $3::timestamptz + interval '36 days'
    order by r.occurred_at, r.id`;

// A reversal has the member and metadata of its charge. The metadata is omitted if the charge is outside the history window. All
// charges of a request have the metadata of the first one.
const charges = (where: string): string => `
    select
      r.customer_number,
      coalesce(r.effective_at, r.recorded_at) as at,
      null::text as key,
      r.feature_id,
      r.pool_id,
      case r.kind when 2 then 1 else 0 end as count,
      case r.kind when 2 then r.quantity else -r.quantity end::numeric as quantity,
      -r.amount::numeric as credits,
      case
        when $10::text is null then r.member_id
        when r.kind = 2 and coalesce(r.item, 0) = 0 then r.metadata ->> $10
        else (
          select c.metadata ->> $10
          from cell.ledger as c
          where c.customer_number = r.customer_number
            and c.sequence = coalesce(r.reverses, r.sequence) - coalesce(r.item, 0)
            and (r.kind = 5 or c.recorded_at = r.recorded_at)
            and coalesce(c.effective_at, c.recorded_at) >= $12::timestamptz
        )
      end as part
    from cell.ledger as r
    where r.environment_id = $1
      and ($6::bigint is null or r.customer_number = $6)
      and r.kind in (2, 5)
      and ${where}`;

/** Finds charges by the time they took effect. Nearly all took effect when they were recorded. An index finds the other charges. */
const CHARGES = `
    select
      c.customer_number, c.at, c.key, c.feature_id, c.pool_id, c.count, c.quantity, c.credits, c.part
    from (${charges("r.effective_at is null and r.recorded_at >= $2::timestamptz and r.recorded_at < $3::timestamptz")}
      union all
      ${charges("r.effective_at >= $2::timestamptz and r.effective_at < $3::timestamptz")}
    ) as c`;

const chart = (name: string, rows: string) =>
  statement(
    name,
    `
  with looked_at as materialized (
    ${rows}
    limit $11::bigint + 1
  )
  select null, null, count(*), null, null
  from looked_at
  union all
  select u.part, u.at, u.count, u.quantity, u.credits
  from (
    select
      l.part,
      (extract(epoch from date_trunc($4, l.at, $5)) * 1000)::bigint as at,
      sum(l.count) as count,
      sum(l.quantity) as quantity,
      sum(l.credits) as credits
    from looked_at as l
    where l.at >= $2::timestamptz
      and l.at < $3::timestamptz
      and ($7::text is null or l.key = $7)
      and ($8::integer is null or l.feature_id = $8)
      and ($9::integer is null or l.pool_id = $9)
    group by l.part, date_trunc($4, l.at, $5)
    order by at
  ) as u`,
  );

const OF_EVENTS = chart("usage_rows.of_events", EVENTS);
const OF_CHARGES = chart("usage_rows.of_charges", CHARGES);

const WALK = statement(
  "usage_rows.walk_along_index",
  `
  select
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true)`,
);

export type GroupedPoint = Used & {
  /** The member or the field's value. Null if the request named no member, or if its metadata does not contain the field. */
  readonly value: string | null;
  readonly at: Instant;
};

/** Usage by member or by the value of one metadata field, in a transaction. Null if the range has more than `rowsMax` rows. */
export async function chartGroupedRows(
  tx: Tx,
  scope: UsageScope,
  {
    bucket,
    timeZone,
    customer,
    field,
    rowsMax,
    windowStart,
  }: Division & {
    readonly customer: CustomerNumber | null;
    /** Null to group by member. */
    readonly field: string | null;
    readonly rowsMax: number;
    /** The metadata of charges before this time is not shown. Null if all metadata is shown. */
    readonly windowStart: Instant | null;
  },
): Promise<GroupedPoint[] | null> {
  const { environmentId, kind, from, to, event, feature, pool } = scope;
  const range = [environmentId, formatTimestamp(from), formatTimestamp(to), bucket, timeZone];
  // Without these settings, the planner may read the events in all environments.
  if (kind === "events") await tx.run(WALK);
  const parameters = [...range, customer, event, feature, pool, field, rowsMax];
  const { rows } =
    kind === "events"
      ? await tx.run({ ...OF_EVENTS, name: "" }, parameters)
      : await tx.run({ ...OF_CHARGES, name: "" }, [
          ...parameters,
          windowStart === null ? "-infinity" : formatTimestamp(windowStart),
        ]);
  const [first, ...points] = rows;
  if (readInteger(first?.[2]) > rowsMax) return null;
  return points.map(([value, at, ...used]) => ({
    value: readNullable(value, readText),
    at: readInstant(at),
    ...readUsed(used),
  }));
}
