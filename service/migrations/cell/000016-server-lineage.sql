-- Transaction numbers continue on one server and its physical copies only. Comparing counters cannot show a switch to another server:
-- its counter passes the old one after a while. So rows say themselves which transaction wrote them, and are compared with what
-- PostgreSQL knows of it (xmin). A standby, a base backup, pg_upgrade and a cloned database keep both; a dump and logical replication
-- write the row anew, under another transaction.

alter table cell.usage_progress
-- The number of the transaction that wrote this row, by the server's counter.
add column written_by bigint not null default 0,
-- Sums of what was recorded from here on may lack rows, until purser verify --usage found none missing. Null: nothing is missing.
add column doubtful_since timestamptz;

-- A second row that is hardly ever written: that both match by chance is next to impossible.
alter table cell.identity
add column written_by bigint not null default 0;

-- Where the old comparison finds another server, this does too: then both stay 0.
update cell.identity set written_by = pg_current_xact_id()::text::bigint where not cell.is_other_server();
update cell.usage_progress set written_by = pg_current_xact_id()::text::bigint where not cell.is_other_server();

-- A row of another server stays one when it is updated here: only follow_server sets the number itself.
create function cell.mark_writer() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  if old.xmin::text::bigint = old.written_by % 4294967296 then
    new.written_by := pg_current_xact_id()::text::bigint;
  end if;
  return new;
end
$$;

create trigger identity_mark_writer
before update on cell.identity
for each row when (new.written_by = old.written_by)
execute function cell.mark_writer();

create trigger usage_progress_mark_writer
before update on cell.usage_progress
for each row when (new.written_by = old.written_by)
execute function cell.mark_writer();

-- Whether these rows were written by another server, or there are numbers that this one has not given yet. All in one statement: rows that
-- it sees are of transactions that were over before it, and below its snapshot's end.
create or replace function cell.is_other_server() returns boolean
language sql
stable
set search_path = pg_catalog
as $$
  select
    p.xmin::text::bigint <> p.written_by % 4294967296
    or i.xmin::text::bigint <> i.written_by % 4294967296
    or cell.next_transaction_number() > pg_snapshot_xmax(pg_current_snapshot())::text::bigint + p.offset_by
  from cell.usage_progress as p
  cross join cell.identity as i
$$;

-- Makes the numbers go on above all that there are, and takes over the rows of another server. What was written here before may be
-- missing from the sums, so that completeTo stops until they were verified. Returns whether that was necessary.
create or replace function cell.follow_server() returns boolean
language plpgsql
set search_path = pg_catalog
as $$
declare
  above bigint;
  added bigint;
  own bigint := pg_current_xact_id()::text::bigint;
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
  update cell.identity set written_by = own;
  update cell.usage_progress
  set
    offset_by = added,
    mark_at = clock_timestamp(),
    mark_number = above,
    written_by = own,
    doubtful_since = coalesce(doubtful_since, complete_to);
  return true;
end
$$;
