-- What an environment sells. Every edit raises the catalog's version in the same transaction, and every process reads
-- that version after its locks: an edit is in force at the next request, wherever it arrives.

create table cell.catalogs (
  environment_id integer not null,
  project_id integer not null,
  version bigint not null,
  changed_at timestamptz not null,
  default_plan_id integer,
  default_plan_since timestamptz not null,
  constraint catalogs_pkey primary key (environment_id)
);

create table cell.pools (
  environment_id integer not null,
  id integer generated always as identity,
  key text collate "C" not null,
  name text not null,
  constraint pools_pkey primary key (environment_id, id),
  constraint pools_key_key unique (environment_id, key),
  constraint pools_key_length check (char_length(key) >= 1 and char_length(key) <= 120)
);

create table cell.features (
  environment_id integer not null,
  id integer generated always as identity,
  key text collate "C" not null,
  name text not null,
  unit text,
  pool_id integer not null,
  cost_credits bigint not null,
  cost_per integer not null,
  constraint features_pkey primary key (environment_id, id),
  constraint features_key_key unique (environment_id, key),
  constraint features_key_length check (char_length(key) >= 1 and char_length(key) <= 120),
  constraint features_pool_fkey foreign key (environment_id, pool_id) references cell.pools (environment_id, id),
  constraint features_cost_range check (cost_credits >= 0 and cost_credits <= 1000000000),
  constraint features_cost_per_range check (cost_per >= 1 and cost_per <= 1000000)
);

create table cell.plans (
  environment_id integer not null,
  id integer generated always as identity,
  key text collate "C" not null,
  name text not null,
  constraint plans_pkey primary key (environment_id, id),
  constraint plans_key_key unique (environment_id, key),
  constraint plans_key_length check (char_length(key) >= 1 and char_length(key) <= 120)
);

alter table cell.catalogs
add constraint catalogs_default_plan_fkey
foreign key (environment_id, default_plan_id) references cell.plans (environment_id, id);

-- A version pins its costs. Published versions never change.
create table cell.plan_versions (
  environment_id integer not null,
  id integer generated always as identity,
  plan_id integer not null,
  number integer not null,
  published_at timestamptz not null,
  reach text not null,
  constraint plan_versions_pkey primary key (environment_id, id),
  constraint plan_versions_number_key unique (environment_id, plan_id, number),
  constraint plan_versions_plan_fkey foreign key (environment_id, plan_id) references cell.plans (environment_id, id),
  constraint plan_versions_reach_known check (reach in ('new_assignments', 'next_period', 'now'))
);

create table cell.plan_allowances (
  environment_id integer not null,
  plan_version_id integer not null,
  pool_id integer not null,
  credits bigint not null,
  period text not null,
  rollover smallint not null,
  constraint plan_allowances_pkey primary key (environment_id, plan_version_id, pool_id),
  constraint plan_allowances_version_fkey
    foreign key (environment_id, plan_version_id) references cell.plan_versions (environment_id, id),
  constraint plan_allowances_pool_fkey foreign key (environment_id, pool_id) references cell.pools (environment_id, id),
  constraint plan_allowances_credits_range check (credits >= 1 and credits <= 1000000000000),
  constraint plan_allowances_period_known check (period in ('day', 'week', 'month', 'year', 'once')),
  constraint plan_allowances_rollover_range check (rollover >= 0 and rollover <= 12)
);

create table cell.plan_features (
  environment_id integer not null,
  plan_version_id integer not null,
  feature_id integer not null,
  pool_id integer not null,
  cost_credits bigint not null,
  cost_per integer not null,
  limit_quantity bigint,
  limit_period text,
  constraint plan_features_pkey primary key (environment_id, plan_version_id, feature_id),
  constraint plan_features_version_fkey
    foreign key (environment_id, plan_version_id) references cell.plan_versions (environment_id, id),
  constraint plan_features_feature_fkey
    foreign key (environment_id, feature_id) references cell.features (environment_id, id),
  constraint plan_features_pool_fkey foreign key (environment_id, pool_id) references cell.pools (environment_id, id),
  constraint plan_features_cost_range check (cost_credits >= 0 and cost_credits <= 1000000000),
  constraint plan_features_cost_per_range check (cost_per >= 1 and cost_per <= 1000000),
  constraint plan_features_limit_whole check ((limit_quantity is null) = (limit_period is null)),
  constraint plan_features_limit_range check (limit_quantity >= 0 and limit_quantity <= 9007199254740991),
  constraint plan_features_limit_period_known check (limit_period in ('day', 'week', 'month', 'year', 'once'))
);

do $$
declare
  name text;
begin
  foreach name in array array['plan_versions', 'plan_allowances', 'plan_features'] loop
    execute format(
      'create trigger %I before update or delete on cell.%I for each row execute function cell.refuse_change()',
      name || '_refuse_change', name);
    execute format(
      'create trigger %I before truncate on cell.%I for each statement execute function cell.refuse_change()',
      name || '_refuse_truncate', name);
  end loop;
end
$$;
