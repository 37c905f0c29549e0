-- Lists customers by name. A customer without a name is listed by its ID, as the dashboard shows it. Not partial: without statistics, the
-- planner prefers a partial index for other queries that exclude erased customers. A large table can get the index beforehand:
-- docs/operations/upgrade.md.
-- Locks: cell.customers (index)

create index if not exists customers_shown_name
on cell.customers (environment_id, lower(coalesce(name, customer_id) collate "default") text_pattern_ops, number);

-- An interrupted `create index concurrently` leaves an index that no query uses.
do $$
begin
  if exists (
    select
    from pg_index as i
    where i.indexrelid = 'cell.customers_shown_name'::regclass
      and not i.indisvalid
  ) then
    raise exception 'the index cell.customers_shown_name is not valid: wait until its build has ended, or drop it';
  end if;
end
$$;
