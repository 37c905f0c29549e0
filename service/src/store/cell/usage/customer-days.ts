/** SQL for the number of a 15-minute bucket within its UTC day, from 0 to 95. */
export function slotOf(moment: string): string {
  return `(date_part('epoch', (${moment} at time zone 'UTC')::time) / 900)::smallint`;
}

export function utcDate(moment: string): string {
  return `(${moment} at time zone 'UTC')::date`;
}

/** SQL for the start of a UTC day. */
export function startOf(day: string): string {
  return `(${day}::timestamp at time zone 'UTC')`;
}

/**
 * Select list that returns one row for each bucket of a day, null where nothing was used. The arrays have the same length, so they
 * can be unnested side by side.
 */
export const SLOTS = `
      generate_subscripts(bucket_counts, 1) as slot,
      unnest(bucket_counts) as count,
      unnest(bucket_quantities) as quantity,
      unnest(bucket_credits) as credits`;

/** The UTC days of a range. The range contains their buckets from `slot_from` (inclusive) to `slot_to` (exclusive). */
export function daysOf(from: string, to: string): string {
  const slotAt = (moment: string): string =>
    `ceil(extract(epoch from ${moment}::timestamptz - g.start) / 900)`;
  return `
      select
        (g.start at time zone 'UTC')::date as day,
        greatest(0, ${slotAt(from)})::integer as slot_from,
        least(96, ${slotAt(to)})::integer as slot_to
      from (
        -- Without a zone: the length of a day depends on the session's.
        select s.start at time zone 'UTC' as start
        from generate_series(
          date_trunc('day', ${from}::timestamptz at time zone 'UTC'),
          (${to}::timestamptz - interval '1 second') at time zone 'UTC',
          interval '1 day'
        ) as s (start)
      ) as g`;
}

export const IS_WHOLE = "d.slot_from = 0 and d.slot_to = 96";

/**
 * SQL for the usage by customers `n` on days `d`, in the environment given by parameter 1. Whole days are read from daily totals,
 * other days from their buckets. One lookup for each day and customer.
 */
export function usedOn({
  isWhole = IS_WHOLE,
  isMeter = "true",
  /** An output column, for a whole day and for a bucket `s.slot`. */
  part = { ofDay: "0", ofSlot: "0" },
}: {
  readonly isWhole?: string;
  readonly isMeter?: string;
  readonly part?: { readonly ofDay: string; readonly ofSlot: string };
} = {}): string {
  return `
      cross join lateral (
        select c.meter_id, c.count, c.quantity, c.credits, c.bucket_counts, c.bucket_quantities, c.bucket_credits
        from cell.usage_customer_days as c
        where c.environment_id = $1
          and c.day = d.day
          and c.customer_number = n.customer_number
          and ${isMeter}
        -- Without this the planner may read the days of all customers at once.
        offset 0
      ) as c
      cross join lateral (
        select ${part.ofDay} as part, c.count, c.quantity, c.credits
        where ${isWhole}
        union all
        select ${part.ofSlot}, s.count, s.quantity, s.credits
        from (
          select ${SLOTS}
          where not (${isWhole})
        ) as s
        where s.slot >= d.slot_from
          and s.slot < d.slot_to
          and s.count is not null
      ) as u`;
}
