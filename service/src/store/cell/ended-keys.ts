import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

/** As many as migration 3 made. */
export const KEY_PARTITIONS = 8;

// Page by page: an index by time would cost every request, and the pages themselves are nearly in the order of time. In hours, as
// the lanes count: how long "days" are depends on the session's time zone.
const PURGES = Array.from({ length: KEY_PARTITIONS }, (_, partition) =>
  statement(
    `keyed_requests.purge_${partition}`,
    `
  delete from cell.keyed_requests_${partition}
  where ctid = any (array(
    select ctid
    from cell.keyed_requests_${partition}
    where ctid >= format('(%s,0)', $1::bigint)::tid
      and ctid < format('(%s,0)', $2::bigint)::tid
      and recorded_at < clock_timestamp() - make_interval(hours => 24 * $3::integer)
    for update skip locked
  ))`,
  ),
);

export type Pages = { readonly partition: number; readonly from: number; readonly to: number };

/** Deletes what has ended in these pages; what somebody holds is left for the next time. */
export async function purgeKeys(tx: Tx, { partition, from, to }: Pages, days: number): Promise<number> {
  const purge = PURGES[partition];
  if (purge === undefined) return 0;
  const { rowCount } = await tx.run(purge, [from, to, days]);
  return rowCount;
}

const COUNT_PAGES = statement(
  "keyed_requests.count_pages",
  `
  select pg_relation_size(format('cell.keyed_requests_%s', $1::integer)::regclass)
    / current_setting('block_size')::integer`,
);

export async function countKeyPages(tx: Tx, partition: number): Promise<number> {
  const { rows } = await tx.run(COUNT_PAGES, [partition]);
  return readInteger(rows[0]?.[0]);
}
