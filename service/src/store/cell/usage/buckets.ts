import { readInstant } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";

export type Bucket = "hour" | "day" | "month";
export type Division = { readonly bucket: Bucket; readonly timeZone: string };

/**
 * Steps for finding the buckets of a range. They are short enough not to skip a bucket: a day may have only 22 hours, and an hour may start
 * 15, 30 or 45 minutes past the UTC hour.
 */
export const STEP = { hour: "15 minutes", day: "6 hours", month: "7 days" } as const satisfies Record<
  Bucket,
  string
>;
/** In units of 15 minutes. No clock has been set back by more than this since 1995. */
const FOLD_MAX = 12;
/** In units of 15 minutes. No clock has been set forward by a larger fraction of an hour. */
const PART_MAX = 3;

type Parameters = Readonly<Record<"from" | "to" | "bucket" | "timeZone" | "step", string>>;

/**
 * A chart's buckets: their label `at`, and their start and end in the range. A bucket usually starts at its label. If a clock is set
 * back across midnight, midnight occurs twice: the day starts at the first and is labeled with the second. If a clock shifts by half
 * an hour, the label of one hour falls within the hour before it.
 */
export function bucketsOf({ from, to, bucket, timeZone, step }: Parameters): string {
  return `
    select
      b.at,
      greatest(f.since, ${from}::timestamptz) as since,
      coalesce(lead(f.since) over (order by f.since), ${to}::timestamptz) as until
    from (
      select distinct date_trunc(${bucket}, s.at, ${timeZone}) as at
      from (
        select generate_series(${from}::timestamptz, ${to}::timestamptz - interval '1 second', ${step}::interval) as at
        union all
        select ${to}::timestamptz - interval '1 second'
      ) as s
    ) as b
    cross join lateral (
      select min(b.at - k * interval '15 minutes') as since
      from generate_series(-${PART_MAX}, ${FOLD_MAX}) as k
      where date_trunc(${bucket}, b.at - k * interval '15 minutes', ${timeZone}) = b.at
    ) as f`;
}

const LIST = statement(
  "usage_buckets.list",
  `
  select (extract(epoch from b.at) * 1000)::bigint, (extract(epoch from b.until) * 1000)::bigint
  from (${bucketsOf({ from: "$1", to: "$2", bucket: "$3", timeZone: "$4", step: "$5" })}) as b
  order by b.since`,
);

export type BucketOfRange = {
  /** The bucket's label. The first bucket's label may lie before the range. */
  readonly at: Instant;
  readonly until: Instant;
};

/** Lists a chart's buckets, earliest first. */
export async function listBuckets(
  tx: Tx,
  { from, to }: { readonly from: Instant; readonly to: Instant },
  { bucket, timeZone }: Division,
): Promise<BucketOfRange[]> {
  if (from >= to) return [];
  const range = [formatTimestamp(from), formatTimestamp(to)];
  const { rows } = await tx.run(LIST, [...range, bucket, timeZone, STEP[bucket]]);
  return rows.map(([at, until]) => ({ at: readInstant(at), until: readInstant(until) }));
}
