-- How much was used, ready to be read: sums of events, charges and denials, which a job makes shortly after them.

-- Nobody can write while an index is made. No release came before these, so that the tables are empty then. One that a later
-- release adds is made on the parent alone ("on only"), concurrently on each part, outside of a transaction, and attached.
create index events_transaction on cell.events (transaction_number);
create index ledger_transaction on cell.ledger (transaction_number);
create index denials_transaction on cell.denials (transaction_number);

-- What is counted: an event key, the charges of a feature from a pool, the denials of a feature for a reason. Sums have its
-- number, which is shorter than any key.
create table cell.meters (
  environment_id integer not null,
  id integer generated always as identity,
  kind smallint not null,
  -- Of an event its key, of a charge 'feature:pool', of a denial 'feature:reason'.
  key text collate "C" not null,
  feature_id integer,
  pool_id integer,
  reason smallint,
  constraint meters_pkey primary key (environment_id, id),
  constraint meters_key_key unique (environment_id, kind, key),
  constraint meters_kind_known check (kind >= 1 and kind <= 3),
  constraint meters_kind_whole check (
    (feature_id is null) = (kind = 1)
    and (pool_id is null) = (kind <> 2)
    and (reason is null) = (kind <> 3)
  )
);

comment on column cell.meters.kind is '1: events, 2: charges, 3: denials';

-- By quarters of an hour, as every time zone cuts its days at one of them. numeric, because a sum has no largest value.
create table cell.usage_quarters (
  environment_id integer not null,
  quarter timestamptz not null,
  meter_id integer not null,
  -- Of events, charges or denials. A reversal is none of them: it takes from quantity and credits alone.
  count bigint not null,
  quantity numeric not null,
  credits numeric not null,
  constraint usage_quarters_pkey primary key (environment_id, quarter, meter_id)
) with (fillfactor = 50);

-- By time first: what is written lies close together, at the end, and costs half of what it would in the order of customers,
-- whose quarters are looked up one by one instead.
create table cell.usage_customer_quarters (
  environment_id integer not null,
  quarter timestamptz not null,
  customer_number bigint not null,
  meter_id integer not null,
  count bigint not null,
  quantity numeric not null,
  credits numeric not null,
  constraint usage_customer_quarters_pkey primary key (environment_id, quarter, customer_number, meter_id)
) with (
  fillfactor = 85,
  -- They grow for ever: a fifth of all that there is would be too much to wait for.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 500000
);

-- Months of UTC, for who used most in a long range. A day is added to them when it is over: at once, each event would cost the
-- database twice as much.
create table cell.usage_customer_months (
  environment_id integer not null,
  month timestamptz not null,
  customer_number bigint not null,
  meter_id integer not null,
  count bigint not null,
  quantity numeric not null,
  credits numeric not null,
  constraint usage_customer_months_pkey primary key (environment_id, month, customer_number, meter_id)
) with (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 500000
);

-- The quarters of those months once more, side by side: which of the month's, counted from 0, and what was used in it. A customer's
-- month is a row for each meter then, instead of 2,976 look-ups. Not in the table above: whoever ranks reads all of that.
create table cell.usage_customer_slots (
  environment_id integer not null,
  month timestamptz not null,
  customer_number bigint not null,
  meter_id integer not null,
  -- One may be there several times, where something came late.
  slots smallint[] not null,
  counts bigint[] not null,
  quantities numeric[] not null,
  credits numeric[] not null,
  constraint usage_customer_slots_pkey primary key (environment_id, month, customer_number, meter_id),
  constraint usage_customer_slots_whole check (
    cardinality(counts) = cardinality(slots)
    and cardinality(quantities) = cardinality(slots)
    and cardinality(credits) = cardinality(slots)
  )
) with (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 500000
);

-- How far the sums are. One row, locked by whoever adds to them.
create table cell.usage_progress (
  id smallint not null,
  -- Every row of a lower number is in the sums, no other is; but for those slices of this very number that are done.
  transaction_number bigint not null,
  slices integer not null,
  slices_done integer not null,
  -- Everything that was answered before this moment is in the sums.
  complete_to timestamptz not null,
  -- What will be complete once all below that number is in.
  mark_at timestamptz not null,
  mark_number bigint not null,
  -- When somebody last added to the sums.
  turned_at timestamptz not null,
  -- The days before this one are in the sums of months, and of this one the customers below that number.
  months_to timestamptz not null,
  months_below bigint not null,
  -- How many numbers of customers to take next: as many as make no long transaction.
  months_width bigint not null,
  -- What is added to the server's numbers.
  offset_by bigint not null,
  -- The beginning of the first month that rows were ever recorded in: what is not attached of the months since then is missing.
  rows_since timestamptz not null,
  constraint usage_progress_pkey primary key (id),
  constraint usage_progress_one check (id = 1),
  constraint usage_progress_slices check (slices_done >= 0 and slices_done < slices)
);

insert into cell.usage_progress
  (id, transaction_number, slices, slices_done, complete_to, mark_at, mark_number, turned_at, months_to, months_below,
    months_width, offset_by, rows_since)
-- From the first number on: rows that were there before the columns were are of the transaction that added these.
select 1, 0, 1, 0, 'epoch', now(), n.number + 1, now(), date_trunc('day', now(), 'UTC'), 0, 1000, 0,
  date_trunc('month', now(), 'UTC')
from (select pg_current_xact_id()::text::bigint as number) as n;

-- Above all numbers there are; not the progress alone, as in a dump rows may be far ahead of it.
create function cell.next_transaction_number() returns bigint
language sql
stable
set search_path = pg_catalog
as $$
  select greatest(
    (select transaction_number from cell.usage_progress),
    (select max(transaction_number) + 1 from cell.events),
    (select max(transaction_number) + 1 from cell.ledger),
    (select max(transaction_number) + 1 from cell.denials)
  )
$$;

-- Whether there are numbers that this server has not given yet. All in one statement: rows that it sees are of transactions
-- that were over before it, and below its snapshot's end.
create function cell.is_other_server() returns boolean
language sql
stable
set search_path = pg_catalog
as $$
  select cell.next_transaction_number() > pg_snapshot_xmax(pg_current_snapshot())::text::bigint + p.offset_by
  from cell.usage_progress as p
$$;

revoke execute on function cell.next_transaction_number(), cell.is_other_server() from public;

-- A dump that is restored into another server meets lower numbers there, and whatever was written then would never be
-- added up. So the numbers are made to go on above all that there are. Returns whether that was necessary.
create function cell.follow_server() returns boolean
language plpgsql
set search_path = pg_catalog
as $$
declare
  above bigint;
  added bigint;
begin
  -- Nearly always there is nothing to do, and nothing to wait for.
  if not cell.is_other_server() then
    return false;
  end if;
  perform from cell.usage_progress for update;
  if not cell.is_other_server() then
    return false;
  end if;
  lock table cell.events, cell.ledger, cell.denials in share row exclusive mode;
  above := cell.next_transaction_number();
  -- Even one that began before this one, and has yet to write its rows, gets a higher number.
  added := above - pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  execute format(
    'alter table cell.events alter column transaction_number set default (pg_current_xact_id()::text::bigint + %s)', added);
  execute format(
    'alter table cell.ledger alter column transaction_number set default (pg_current_xact_id()::text::bigint + %s)', added);
  execute format(
    'alter table cell.denials alter column transaction_number set default (pg_current_xact_id()::text::bigint + %s)', added);
  update cell.usage_progress set offset_by = added, mark_at = clock_timestamp(), mark_number = above;
  return true;
end
$$;

revoke execute on function cell.follow_server() from public;

-- For the few questions that sums cannot answer, such as what was charged for one value of the metadata.
create index ledger_recorded
on cell.ledger using brin (recorded_at) with (pages_per_range = 32, autosummarize = on);

-- Entries that were recorded before their own time, as after a failover to a slower clock: else none would be looked for in the
-- parts of the table from before that time. There are next to none.
create index ledger_ahead
on cell.ledger (environment_id, effective_at) include (recorded_at)
where effective_at > recorded_at;

-- Charges whose own time is not when they were recorded, as after a failover to a slower clock. There are next to none: charges do
-- not pay for it, and whoever looks for all charges of some time finds those too.
create index ledger_effective
on cell.ledger (effective_at)
where effective_at is not null and kind in (2, 5);

-- Where a job is that walks over a large table, a little at a time: so that it goes on there after a restart, and in whichever
-- process holds the row.
create table cell.walks (
  name text collate "C" not null,
  -- As the job itself writes it. Null: at the beginning.
  position jsonb,
  rests_until timestamptz not null,
  constraint walks_pkey primary key (name)
);

insert into cell.walks (name, position, rests_until)
values ('expiries', null, 'epoch'), ('ended keys', null, 'epoch');

-- Whoever may delete keys that have ended could delete others by mistake, and their requests would be charged again. No
-- installation ends keys sooner than this; in hours, as the length of days depends on the session's time zone.
create trigger keyed_requests_refuse_delete
before delete on cell.keyed_requests
for each row
when (old.recorded_at > clock_timestamp() - interval '960 hours')
execute function cell.refuse_change();
