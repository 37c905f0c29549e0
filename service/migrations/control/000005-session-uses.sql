-- A session nobody uses must end, and its owner must be able to tell sessions apart and end one.

alter table control.sessions
  add column id integer generated always as identity,
  add column last_used_at timestamptz not null default now(),
  -- Of the last use, and of the log-in. Null: older than these columns.
  add column address text,
  add column user_agent text,
  add constraint sessions_id_key unique (id);
