-- Runtime secrets: only their SHA-256 is kept, and the last four characters so that people can tell them apart.

create table control.api_keys (
  id integer generated always as identity,
  project_id integer not null,
  environment_id integer not null,
  name text not null,
  secret_hash bytea not null,
  last_four text collate "C" not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_secret_hash_key unique (secret_hash),
  constraint api_keys_environment_fkey
    foreign key (project_id, environment_id) references control.environments (project_id, id),
  constraint api_keys_secret_hash_length check (octet_length(secret_hash) = 32),
  constraint api_keys_last_four_length check (char_length(last_four) = 4),
  constraint api_keys_scopes_known check (scopes <@ array['check', 'consume', 'events']),
  constraint api_keys_name_length check (char_length(name) >= 1 and char_length(name) <= 120)
);
