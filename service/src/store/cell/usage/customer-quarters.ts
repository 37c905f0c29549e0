// The first of the days that are not in the sums of months as a whole: with all customers, and for good.
const MONTHS_TO = "(select p.months_to from cell.usage_progress as p)";

// What customers used since a moment, in pieces of SQL about an environment that is parameter 1. The days that are in the sums of
// months are read from their slots, where a customer's month is a few rows. Since then the sums are in the order of time, and of
// customers within a quarter: one look-up for each quarter and customer.

/** The first slot of the month `m.month`, without a zone, that is not before this moment. */
export function slotAt(moment: string): string {
  return `ceil(extract(epoch from ${moment} - m.month at time zone 'UTC') / 900)::integer`;
}

/** The months of a range that have slots, and which of these are in the range. More columns may be made of `m.month`. */
export function slottedMonths(from: string, to: string, more: readonly string[] = []): string {
  const end = `least(${to}::timestamptz, ${MONTHS_TO})`;
  return `(
          select
            m.month at time zone 'UTC' as month,
            ${slotAt(`${from}::timestamptz`)} as slot_from,
            ${slotAt(end)} as slot_to${more.map((column) => `,\n            ${column}`).join("")}
          -- Without a zone, as the length of months depends on the session's.
          from generate_series(
            date_trunc('month', ${from}::timestamptz at time zone 'UTC'),
            (${end} - interval '1 second') at time zone 'UTC',
            interval '1 month'
          ) as m (month)
          offset 0
        )`;
}

/**
 * The slots of a customer's month, one by one. Unnested side by side, as they are equally long: one function for all four arrays
 * would write them down first, and take twice as long.
 */
export function slotsOf(month: string, customer: string): string {
  return `
            select
              o.meter_id,
              unnest(o.slots) as slot,
              unnest(o.counts) as count,
              unnest(o.quantities) as quantity,
              unnest(o.credits) as credits
            from cell.usage_customer_slots as o
            where o.environment_id = $1
              and o.month = ${month}
              and o.customer_number = ${customer}`;
}

/** Each quarter of a range that has no slots yet. */
export function quartersSince(from: string, to: string, customers: string): string {
  return `
      select f.environment_id, f.quarter, f.customer_number, f.meter_id, f.count, f.quantity, f.credits
      from unnest(${customers}) as n (customer_number)
      cross join generate_series(
        greatest(${from}::timestamptz, ${MONTHS_TO}),
        ${to}::timestamptz - interval '1 second',
        interval '15 minutes'
      ) as q (quarter)
      cross join lateral (
        select c.environment_id, c.quarter, c.customer_number, c.meter_id, c.count, c.quantity, c.credits
        from cell.usage_customer_quarters as c
        where c.environment_id = $1
          and c.quarter = q.quarter
          and c.customer_number = n.customer_number
        -- Else the planner may read all quarters of all customers at once.
        offset 0
      ) as f`;
}
