import { readInstant } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";

export type Bucket = "hour" | "day" | "month";
export type Division = { readonly bucket: Bucket; readonly timeZone: string };

/** Short enough to miss none: a day may have 23 hours, and an hour begin at any quarter of UTC's. */
export const STEP = { hour: "15 minutes", day: "6 hours", month: "7 days" } as const satisfies Record<
  Bucket,
  string
>;
/** No zone has ever gone back by more than that, */
const FOLD_QUARTERS_MAX = 12;
/** nor on by a part of an hour that is longer. */
const PART_QUARTERS_MAX = 3;

type Parameters = Readonly<Record<"from" | "to" | "bucket" | "timeZone" | "step", string>>;

/**
 * The buckets of a range: what they are called, `at`, and where in the range they begin and end. Nearly always a bucket begins at what
 * it is called. Where a clock goes back over midnight, a day is called by the second one and begins at the first; where it changes by
 * half an hour, an hour is called by a moment of the hour before.
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
      from generate_series(-${PART_QUARTERS_MAX}, ${FOLD_QUARTERS_MAX}) as k
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
  /** What it is called; that of the first may lie before the range. */
  readonly at: Instant;
  readonly until: Instant;
};

/** The earliest first. */
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
