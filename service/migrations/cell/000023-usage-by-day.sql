-- One table by customer and UTC day replaces three by quarter of an hour, month and slot: a third of the code for the same figures.
-- No release has the old tables, so they are dropped at once, without an expand and a contract step.

-- No process may add to the old tables while they are copied.
lock table cell.usage_progress in access exclusive mode;

alter table cell.usage_quarters rename to usage_buckets;
alter table cell.usage_buckets rename column quarter to bucket;
alter table cell.usage_buckets rename constraint usage_quarters_pkey to usage_buckets_pkey;

-- Adds amounts to the 15-minute buckets of a day. The subscripts are the buckets, from 0 to 95; a bucket without usage is null.
create function cell.add_to_buckets(buckets anyarray, slots smallint[], amounts anyarray) returns anyarray
language plpgsql
immutable
as $$
begin
  for i in 1 .. cardinality(slots) loop
    buckets[slots[i]] := coalesce(buckets[slots[i]], 0) + amounts[i];
  end loop;
  return buckets;
end
$$;

revoke execute on function cell.add_to_buckets(anyarray, smallint[], anyarray) from public;

-- By day first: the rows that are written lie close together, at the end of the index.
create table cell.usage_customer_days (
  environment_id integer not null,
  -- In UTC.
  day date not null,
  customer_number bigint not null,
  meter_id integer not null,
  count bigint not null,
  quantity numeric not null,
  credits numeric not null,
  -- The same by 15-minute bucket, for time zones with other days.
  bucket_counts bigint[] not null,
  bucket_quantities numeric[] not null,
  bucket_credits numeric[] not null,
  constraint usage_customer_days_pkey primary key (environment_id, day, customer_number, meter_id),
  constraint usage_customer_days_same_buckets check (
    array_lower(bucket_counts, 1) >= 0
    and array_upper(bucket_counts, 1) < 96
    and array_lower(bucket_quantities, 1) = array_lower(bucket_counts, 1)
    and array_upper(bucket_quantities, 1) = array_upper(bucket_counts, 1)
    and array_lower(bucket_credits, 1) = array_lower(bucket_counts, 1)
    and array_upper(bucket_credits, 1) = array_upper(bucket_counts, 1)
  )
) with (
  fillfactor = 85,
  -- The table only grows: a share of all its rows would be too many to wait for.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 500000
);

insert into cell.usage_customer_days (
  environment_id, day, customer_number, meter_id, count, quantity, credits, bucket_counts, bucket_quantities, bucket_credits
)
select
  d.environment_id,
  d.day,
  d.customer_number,
  d.meter_id,
  d.count,
  d.quantity,
  d.credits,
  cell.add_to_buckets('{}', d.slots, d.counts),
  cell.add_to_buckets('{}', d.slots, d.quantities),
  cell.add_to_buckets('{}', d.slots, d.all_credits)
from (
  select
    q.environment_id,
    (q.quarter at time zone 'UTC')::date as day,
    q.customer_number,
    q.meter_id,
    sum(q.count) as count,
    sum(q.quantity) as quantity,
    sum(q.credits) as credits,
    array_agg((extract(epoch from (q.quarter at time zone 'UTC')::time) / 900)::smallint) as slots,
    array_agg(q.count) as counts,
    array_agg(q.quantity) as quantities,
    array_agg(q.credits) as all_credits
  from cell.usage_customer_quarters as q
  group by q.environment_id, (q.quarter at time zone 'UTC')::date, q.customer_number, q.meter_id
) as d
order by d.environment_id, d.day, d.customer_number, d.meter_id;

drop table cell.usage_customer_quarters, cell.usage_customer_months, cell.usage_customer_slots;

alter table cell.usage_progress
drop column months_to,
drop column months_below,
drop column months_width;
