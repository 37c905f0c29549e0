// The first of the days that are not in the sums of months as a whole: with all customers, and for good.
const MONTHS_TO = "(select p.months_to from cell.usage_progress as p)";

/**
 * What customers used in each quarter of a range: SQL, of an environment that is parameter 1. The days that are in the sums of
 * months are read from their slots, where a customer's month is a few rows. Since then the sums are in the order of time, and of
 * customers within a quarter: one look-up for each quarter and customer.
 */
export function quartersOfCustomers(from: string, to: string, customers: string): string {
  return `(
      select c.environment_id, c.quarter, c.customer_number, c.meter_id, c.count, c.quantity, c.credits
      from (
        select
          o.environment_id,
          o.month + e.slot * interval '15 minutes' as quarter,
          o.customer_number,
          o.meter_id,
          e.count,
          e.quantity,
          e.credits
        from unnest(${customers}) as n (customer_number)
        -- Without a zone, as the length of months depends on the session's.
        cross join generate_series(
          date_trunc('month', ${from}::timestamptz at time zone 'UTC'),
          (least(${to}::timestamptz, ${MONTHS_TO}) - interval '1 second') at time zone 'UTC',
          interval '1 month'
        ) as m (month)
        cross join lateral (
          select o.environment_id, o.month, o.customer_number, o.meter_id, o.slots, o.counts, o.quantities, o.credits
          from cell.usage_customer_slots as o
          where o.environment_id = $1
            and o.month = m.month at time zone 'UTC'
            and o.customer_number = n.customer_number
          offset 0
        ) as o
        cross join lateral unnest(o.slots, o.counts, o.quantities, o.credits) as e (slot, count, quantity, credits)
      ) as c
      where c.quarter >= ${from}::timestamptz
        and c.quarter < least(${to}::timestamptz, ${MONTHS_TO})
      union all
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
      ) as f
    )`;
}
