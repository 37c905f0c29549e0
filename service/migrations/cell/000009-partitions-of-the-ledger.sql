-- Ledger and denials get their monthly partitions as events do; past months too, for history that is brought along.

drop function cell.ensure_monthly_partitions(integer);

create function cell.ensure_monthly_partitions(months_back integer, months_ahead integer) returns integer
language plpgsql
security definer
set search_path = pg_catalog
-- A database in another zone must cut its months at the same instants.
set timezone = 'UTC'
as $$
declare
  parent text;
  month timestamptz;
  partition text;
  made integer := 0;
begin
  if months_back < 0 or months_back > 12 or months_ahead < 0 or months_ahead > 12 then
    raise exception 'months must be from 0 to 12' using errcode = 'invalid_parameter_value';
  end if;
  -- Two processes that start together must not both create the same table.
  perform pg_advisory_xact_lock(hashtextextended('purser.partitions', 0));
  foreach parent in array array['events', 'ledger', 'denials'] loop
    for ahead in -months_back..months_ahead loop
      month := date_trunc('month', clock_timestamp()) + make_interval(months => ahead);
      partition := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
      continue when to_regclass(format('cell.%I', partition)) is not null;
      -- Create and attach, not "partition of": attaching lets readers and writers of the parent go on.
      execute format('create table cell.%I (like cell.%I including defaults including constraints)', partition, parent);
      execute format(
        'create trigger %I before truncate on cell.%I for each statement execute function cell.refuse_change()',
        parent || '_refuse_truncate', partition);
      execute format(
        'alter table cell.%I attach partition cell.%I for values from (%L) to (%L)',
        parent, partition, month, month + interval '1 month');
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

revoke execute on function cell.ensure_monthly_partitions(integer, integer) from public;

select cell.ensure_monthly_partitions(0, 3);
