-- Versions and ids are counted, and a failover that loses an edit counts them again for another one. What a process keeps in
-- memory is therefore named by random numbers, which no other edit and no other publication ever gets.

alter table cell.catalogs add column revision uuid not null default gen_random_uuid();
alter table cell.plan_versions add column identity uuid not null default gen_random_uuid();

-- By trigger, so that an edit by a process of the release before is told apart, too.
create function cell.renew_revision() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  new.revision := gen_random_uuid();
  return new;
end
$$;

create trigger catalogs_renew_revision
before update of version on cell.catalogs
for each row execute function cell.renew_revision();
