-- A search finds a text anywhere in a customer's name, email or billing reference. Without the two extensions, which belong to
-- PostgreSQL's contrib modules, there is no index, and a search reads all customers of the environment. A large table can get the index
-- beforehand: docs/operations/upgrade.md.
-- Locks: cell.customers (index)

do $$
declare
  trigrams text;
begin
  begin
    -- Trusted extensions: the owner of the database may create them.
    create extension if not exists pg_trgm with schema cell;
    create extension if not exists btree_gin with schema cell;
  exception when undefined_file or feature_not_supported or insufficient_privilege then
    raise warning 'searches for customers read the whole list, because pg_trgm and btree_gin are not available: %', sqlerrm;
    return;
  end;
  select quote_ident(n.nspname) || '.gin_trgm_ops' into strict trigrams
  from pg_extension as e
  join pg_namespace as n on n.oid = e.extnamespace
  where e.extname = 'pg_trgm';
  -- Without the ID, and without customers that have only an ID: the first request of a customer must not update this index. An insert
  -- takes ten times as long with it, and up to 200 ms when its pending list is full.
  execute format(
    'create index if not exists customers_search on cell.customers using gin (
      environment_id,
      lower(name) %1$s,
      lower(email) %1$s,
      lower(billing_reference) %1$s
    ) with (fastupdate = on, gin_pending_list_limit = 256)
    where erased_at is null
      and (name is not null or email is not null or billing_reference is not null)',
    trigrams
  );
  -- An interrupted `create index concurrently` leaves an index that no query uses.
  if exists (
    select
    from pg_index as i
    where i.indexrelid = 'cell.customers_search'::regclass
      and not i.indisvalid
  ) then
    raise exception 'the index cell.customers_search is not valid: wait until its build has ended, or drop it';
  end if;
end
$$;
