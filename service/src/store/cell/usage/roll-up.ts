import { readBoolean, readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { assert } from "../../../primitives/assert.ts";
import { slotOf, utcDate } from "./customer-days.ts";
import { ROWS_OF_STRETCH, rowsOfUsage, SLICES_MAX } from "./rows.ts";

// The caller must hold the lock on the progress row, because only one process at a time may add to the roll-ups.

const PREPARE = statement(
  "usage_roll_up.prepare",
  `
  select
    -- A crash that loses roll-ups also loses the progress, so they are rebuilt.
    set_config('synchronous_commit', 'off', true),
    set_config('jit', 'off', true)`,
);

export function prepareRollUp(tx: Tx): Promise<Rows> {
  return tx.run(PREPARE);
}

/** Consecutive transactions, from one number (inclusive) to another (exclusive). */
export type Stretch = {
  readonly from: number;
  readonly to: number;
  /** Greater than 1 only if a single transaction is too large for one statement: its customers are added in this many slices. */
  readonly slices: number;
};

const TABLES = ["events", "ledger", "denials"] as const;

const FIND_CUT = statement(
  "usage_roll_up.find_cut",
  `
  select min(c.transaction_number)
  from (
    ${TABLES.map(
      (table) => `(
      select transaction_number
      from cell.${table}
      where transaction_number >= $1
        and transaction_number < $2
      order by transaction_number
      offset $3
      limit 1
    )`,
    ).join(" union all ")}
  ) as c`,
);

const COUNT = statement(
  "usage_roll_up.count",
  `
  select ${TABLES.map((table) => `(select count(*) from cell.${table} where transaction_number = $1)`).join(
    " + ",
  )}`,
);

/** The next stretch of transactions below `limit`: up to `rowsMax` rows from each table, or one transaction. */
export async function findStretch(
  tx: Tx,
  { from, limit, rowsMax }: { readonly from: number; readonly limit: number; readonly rowsMax: number },
): Promise<Stretch> {
  // Unnamed, so that PostgreSQL plans it each time for the current rows.
  const { rows } = await tx.run({ ...FIND_CUT, name: "" }, [from, limit, rowsMax]);
  const cut = readNullable(rows[0]?.[0] ?? null, readInteger);
  if (cut === null) return { from, to: limit, slices: 1 };
  if (cut > from) return { from, to: cut, slices: 1 };
  const counted = await tx.run({ ...COUNT, name: "" }, [from]);
  const slices = Math.ceil(readInteger(counted.rows[0]?.[0]) / rowsMax);
  return { from, to: from + 1, slices: Math.min(slices, SLICES_MAX) };
}

/**
 * Inserts the meters that the given usage needs. A statement cannot see the meters that it inserts, so this statement runs before the
 * usage is added or re-added. Does not use "on conflict", which would use up a number for each meter that exists.
 */
export const insertMeters = (name: string, usage: string) =>
  statement(
    name,
    `
  insert into cell.meters (environment_id, kind, key, feature_id, pool_id, reason)
  select distinct u.environment_id, u.kind, u.key, u.feature_id, u.pool_id, u.reason
  from (
    select u.environment_id, u.kind, u.key, u.feature_id, u.pool_id, u.reason
    from (${usage}) as u
    where not exists (
      select
      from cell.meters as m
      where m.environment_id = u.environment_id
        and m.kind = u.kind
        and m.key = u.key
    )
    -- Without this all rows would be sorted before they are looked up.
    offset 0
  ) as u`,
  );

const INSERT_METERS = insertMeters("usage_roll_up.insert_meters", rowsOfUsage(ROWS_OF_STRETCH));

/** SQL for the values of a day's buckets, by customer and meter. Each group of `u` has one row per bucket. */
export const BUCKETS_OF_DAY = `
      sum(u.count) as count,
      sum(u.quantity) as quantity,
      sum(u.credits) as credits,
      array_agg(${slotOf("u.bucket")}) as slots,
      array_agg(u.count::bigint) as counts,
      array_agg(u.quantity::numeric) as quantities,
      array_agg(u.credits::numeric) as all_credits`;

export const DAY_COLUMNS =
  "environment_id, day, customer_number, meter_id, count, quantity, credits, bucket_counts, bucket_quantities, bucket_credits";

/** SQL for the columns of a new row, from groups as above. */
export const NEW_DAY = `
    environment_id, day, customer_number, meter_id, count, quantity, credits,
    cell.add_to_buckets('{}', slots, counts),
    cell.add_to_buckets('{}', slots, quantities),
    cell.add_to_buckets('{}', slots, all_credits)`;

// Writes nothing if a meter is missing. Only one process writes, so existing rows are updated and others inserted, after one
// lookup each. "on conflict" would write three records of the write-ahead log for each row instead of one or two.
const ADD = statement(
  "usage_roll_up.add",
  `
  with used as materialized (
    select
      u.environment_id,
      u.bucket,
      u.customer_number,
      m.id as meter_id,
      count(*) as rows,
      sum(u.count) as count,
      sum(u.quantity) as quantity,
      sum(u.credits) as credits
    from (${rowsOfUsage(ROWS_OF_STRETCH)}) as u
    left join cell.meters as m on m.environment_id = u.environment_id and m.kind = u.kind and m.key = u.key
    group by u.environment_id, u.bucket, u.customer_number, m.id
  ), ready as materialized (
    select coalesce(bool_and(meter_id is not null), true) as is_ready
    from used
  ), days as materialized (
    select u.environment_id, ${utcDate("u.bucket")} as day, u.customer_number, u.meter_id,${BUCKETS_OF_DAY}
    from used as u
    where (select is_ready from ready)
    group by u.environment_id, ${utcDate("u.bucket")}, u.customer_number, u.meter_id
    order by u.environment_id, day, u.customer_number, u.meter_id
  ), found as materialized (
    select
      d.environment_id, d.day, d.customer_number, d.meter_id, d.count, d.quantity, d.credits,
      d.slots, d.counts, d.quantities, d.all_credits, s.place
    from days as d
    left join lateral (
      select c.ctid as place
      from cell.usage_customer_days as c
      where c.environment_id = d.environment_id
        and c.day = d.day
        and c.customer_number = d.customer_number
        and c.meter_id = d.meter_id
      offset 0
    ) as s on true
  ), updated as (
    update cell.usage_customer_days as s
    set
      count = s.count + f.count,
      quantity = s.quantity + f.quantity,
      credits = s.credits + f.credits,
      bucket_counts = cell.add_to_buckets(s.bucket_counts, f.slots, f.counts),
      bucket_quantities = cell.add_to_buckets(s.bucket_quantities, f.slots, f.quantities),
      bucket_credits = cell.add_to_buckets(s.bucket_credits, f.slots, f.all_credits)
    from found as f
    where s.ctid = f.place
  ), inserted as (
    insert into cell.usage_customer_days (${DAY_COLUMNS})
    select ${NEW_DAY}
    from found
    where place is null
  ), buckets as (
    insert into cell.usage_buckets as s (environment_id, bucket, meter_id, count, quantity, credits)
    select u.environment_id, u.bucket, u.meter_id, sum(u.count), sum(u.quantity), sum(u.credits)
    from used as u
    where (select is_ready from ready)
    group by u.environment_id, u.bucket, u.meter_id
    order by u.environment_id, u.bucket, u.meter_id
    on conflict on constraint usage_buckets_pkey do update
    set
      count = s.count + excluded.count,
      quantity = s.quantity + excluded.quantity,
      credits = s.credits + excluded.credits
  )
  select coalesce(sum(u.rows), 0), (select is_ready from ready)
  from used as u`,
);

/** Adds the rows of a stretch, or of one slice of it. Returns the number of rows added. */
export async function addToRollUps(tx: Tx, { from, to, slices }: Stretch, slice: number): Promise<number> {
  const add = () => tx.run({ ...ADD, name: "" }, [from, to, slices, slice]);
  let [row] = (await add()).rows;
  if (!readBoolean(row?.[1])) {
    // Inserts the meters for all slices at once.
    await tx.run({ ...INSERT_METERS, name: "" }, [from, to, 1, 0]);
    [row] = (await add()).rows;
    assert(readBoolean(row?.[1]), "every meter was inserted");
  }
  return readInteger(row?.[0]);
}
