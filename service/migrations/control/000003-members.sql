-- The people who run Purser, the sessions and links by which they come in, the tokens of their automation, and what they did.

create table control.members (
  id integer generated always as identity,
  workspace_id integer not null,
  -- In lower case.
  email text collate "C" not null,
  name text not null,
  role text collate "C" not null,
  -- A PHC string; null until an invitation is accepted.
  password_hash text,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  constraint members_pkey primary key (id),
  constraint members_workspace_id_fkey foreign key (workspace_id) references control.workspaces (id),
  constraint members_role_known check (role in ('viewer', 'operator', 'admin', 'owner')),
  constraint members_email_length check (char_length(email) >= 3 and char_length(email) <= 254),
  constraint members_name_length check (char_length(name) >= 1 and char_length(name) <= 120)
);

-- Who was removed may be invited again.
create unique index members_email_key on control.members (email) where removed_at is null;
create index members_workspace_id on control.members (workspace_id, id) where removed_at is null;

create table control.sessions (
  -- SHA-256 of what the cookie holds.
  token_hash bytea not null,
  member_id integer not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sessions_pkey primary key (token_hash),
  constraint sessions_member_id_fkey foreign key (member_id) references control.members (id)
);

create index sessions_member_id on control.sessions (member_id);

-- One-time links: the first owner, an invitation, a new password, and the sign-in that a development start prints.
create table control.links (
  token_hash bytea not null,
  purpose text collate "C" not null,
  -- Of the first owner there is none yet.
  member_id integer,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint links_pkey primary key (token_hash),
  constraint links_member_id_fkey foreign key (member_id) references control.members (id),
  constraint links_purpose_known check (purpose in ('setup', 'invitation', 'password', 'sign_in')),
  constraint links_member_whole check ((purpose = 'setup') = (member_id is null))
);

create index links_member_id on control.links (member_id);

create table control.management_tokens (
  id integer generated always as identity,
  workspace_id integer not null,
  name text not null,
  role text collate "C" not null,
  -- Both or neither; neither: all of the workspace.
  project_id integer,
  environment_id integer,
  secret_hash bytea not null,
  last_four text collate "C" not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint management_tokens_pkey primary key (id),
  constraint management_tokens_secret_hash_key unique (secret_hash),
  constraint management_tokens_workspace_id_fkey foreign key (workspace_id) references control.workspaces (id),
  constraint management_tokens_environment_fkey
    foreign key (project_id, environment_id) references control.environments (project_id, id),
  constraint management_tokens_environment_whole check ((project_id is null) = (environment_id is null)),
  constraint management_tokens_role_known check (role in ('viewer', 'operator', 'admin', 'owner')),
  constraint management_tokens_secret_hash_length check (octet_length(secret_hash) = 32),
  constraint management_tokens_name_length check (char_length(name) >= 1 and char_length(name) <= 120)
);

create index management_tokens_workspace_id on control.management_tokens (workspace_id, id);

-- What people did to the control plane: members, tokens, keys, projects, the workspace. Customers and catalogs have theirs
-- in the cell.
create table control.audit (
  workspace_id integer not null,
  -- Of what belongs to one environment: its keys, say.
  environment_id integer,
  -- UUIDv7 of recorded_at.
  id uuid not null,
  recorded_at timestamptz not null,
  actor_kind text collate "C" not null,
  actor_id text,
  request_id text,
  action text collate "C" not null,
  subject text not null,
  before jsonb,
  after jsonb,
  constraint audit_pkey primary key (workspace_id, id),
  constraint audit_actor_known check (actor_kind in ('member', 'token', 'command', 'system'))
);

create index audit_environment_id on control.audit (environment_id, id) where environment_id is not null;

create function control.refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  raise exception '% on %.% is refused: the table is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;

create trigger audit_refuse_change
before update or delete on control.audit
for each row execute function control.refuse_change();

create trigger audit_refuse_truncate
before truncate on control.audit
for each statement execute function control.refuse_change();

-- What lists walk along.
create index api_keys_environment_id on control.api_keys (environment_id, id);
create index projects_workspace_id on control.projects (workspace_id, id);

-- Members and projects belong to a workspace. It is made here, once, and not by whichever process happens to start first.
insert into control.workspaces (name)
select 'My workspace'
where not exists (select from control.workspaces);
