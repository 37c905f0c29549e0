-- Who runs Purser, within which limits, and with which secrets its callers identify themselves.

create table control.workspace_plans (
  key text collate "C" not null,
  name text not null,
  metadata_bytes_max integer not null,
  metadata_keys_max integer not null,
  metadata_depth_max integer not null,
  history_days_max integer,
  requests_per_second_max integer,
  constraint workspace_plans_pkey primary key (key),
  constraint workspace_plans_metadata_bytes_max_range check (metadata_bytes_max >= 0 and metadata_bytes_max <= 65536),
  constraint workspace_plans_metadata_keys_max_range check (metadata_keys_max >= 0 and metadata_keys_max <= 10000),
  constraint workspace_plans_metadata_depth_max_range check (metadata_depth_max >= 1 and metadata_depth_max <= 32),
  constraint workspace_plans_history_days_max_range check (history_days_max >= 1),
  constraint workspace_plans_requests_per_second_max_range check (requests_per_second_max >= 1)
);

comment on column control.workspace_plans.history_days_max is 'null: unlimited';
comment on column control.workspace_plans.requests_per_second_max is 'per API key and process; null: unlimited';

insert into control.workspace_plans
  (key, name, metadata_bytes_max, metadata_keys_max, metadata_depth_max, history_days_max, requests_per_second_max)
values
  ('self_hosted', 'Self-hosted', 8192, 50, 5, null, null);

create table control.workspaces (
  id integer generated always as identity,
  name text not null,
  plan_key text collate "C" not null default 'self_hosted',
  created_at timestamptz not null default now(),
  constraint workspaces_pkey primary key (id),
  constraint workspaces_plan_key_fkey foreign key (plan_key) references control.workspace_plans (key),
  constraint workspaces_name_length check (char_length(name) >= 1 and char_length(name) <= 120)
);

create table control.projects (
  id integer generated always as identity,
  workspace_id integer not null,
  name text not null,
  cell text collate "C" not null default 'main',
  created_at timestamptz not null default now(),
  constraint projects_pkey primary key (id),
  constraint projects_workspace_id_fkey foreign key (workspace_id) references control.workspaces (id),
  constraint projects_name_length check (char_length(name) >= 1 and char_length(name) <= 120)
);

comment on column control.projects.cell is 'which database holds all rows of this project';

create table control.environments (
  id integer generated always as identity,
  project_id integer not null,
  kind text collate "C" not null,
  constraint environments_pkey primary key (id),
  constraint environments_project_id_kind_key unique (project_id, kind),
  -- Lets a row name its project and environment together, so that the two cannot disagree.
  constraint environments_project_id_id_key unique (project_id, id),
  constraint environments_project_id_fkey foreign key (project_id) references control.projects (id),
  constraint environments_kind_known check (kind in ('test', 'live'))
);
