-- Lists the audit log without the entries of single customers in bulk changes, of which there can be many in a row, and finds the end of
-- a bulk change by the entry of its start. A large table can get both indexes beforehand: docs/operations/upgrade.md.
-- Locks: cell.audit (index)

create index if not exists audit_collapsed on cell.audit (environment_id, id) where after -> 'inBulk' is null;

create index if not exists audit_started on cell.audit (environment_id, (after ->> 'startEntry'))
where after ->> 'startEntry' is not null;

-- An interrupted `create index concurrently` leaves an index that no query uses.
do $$
begin
  if exists (
    select
    from pg_index as i
    where i.indexrelid in ('cell.audit_collapsed'::regclass, 'cell.audit_started'::regclass)
      and not i.indisvalid
  ) then
    raise exception 'an index of cell.audit is not valid: wait until its build has ended, or drop it';
  end if;
end
$$;
