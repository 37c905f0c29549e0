-- Passkeys as a second factor, so that a password or link alone does not open a session.
-- Locks: control.members (brief), control.sessions (brief), control.workspaces (brief)

create table control.passkeys (
  id integer generated always as identity,
  member_id integer not null,
  name text not null,
  credential_id bytea not null,
  public_key bytea not null,
  signature_count bigint not null,
  transports text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  constraint passkeys_pkey primary key (id),
  constraint passkeys_credential_id_key unique (credential_id),
  constraint passkeys_member_id_fkey foreign key (member_id) references control.members (id),
  constraint passkeys_name_length check (char_length(name) >= 1 and char_length(name) <= 100),
  constraint passkeys_credential_id_length check (octet_length(credential_id) >= 1 and octet_length(credential_id) <= 1023),
  constraint passkeys_public_key_length check (octet_length(public_key) >= 1 and octet_length(public_key) <= 2048),
  constraint passkeys_signature_count_range check (signature_count >= 0 and signature_count <= 4294967295)
);

create index passkeys_member_id on control.passkeys (member_id, id);

comment on column control.passkeys.public_key is 'a COSE key';
comment on column control.passkeys.signature_count is '0: the authenticator does not count';

create table control.recovery_codes (
  member_id integer not null,
  code_hash bytea not null,
  used_at timestamptz,
  constraint recovery_codes_pkey primary key (member_id, code_hash),
  constraint recovery_codes_member_id_fkey foreign key (member_id) references control.members (id),
  constraint recovery_codes_code_hash_length check (octet_length(code_hash) = 32)
);

create table control.challenges (
  token_hash bytea not null,
  member_id integer not null,
  purpose text collate "C" not null,
  challenge text collate "C" not null,
  password_digest bytea not null,
  attempts integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint challenges_pkey primary key (token_hash),
  constraint challenges_member_id_fkey foreign key (member_id) references control.members (id),
  constraint challenges_purpose_known check (purpose in ('log_in', 'set_up', 'register')),
  constraint challenges_token_hash_length check (octet_length(token_hash) = 32),
  constraint challenges_password_digest_length check (octet_length(password_digest) = 32),
  constraint challenges_attempts_range check (attempts >= 0 and attempts <= 5)
);

create index challenges_member_id on control.challenges (member_id, created_at);
create index challenges_expires_at on control.challenges (expires_at);

comment on table control.challenges is 'a log-in or registration that waits for a passkey; deleted when it succeeds or expires';
comment on column control.challenges.password_digest is 'SHA-256 of the password hash; a changed password ends the challenge';

-- Release 0.1 opens sessions with a password alone. It cannot run once members can have passkeys.
alter table control.sessions
  add column opened_with text collate "C" not null default 'password',
  add constraint sessions_opened_with_known
    check (opened_with in ('password', 'passkey', 'recovery_code', 'single_sign_on'));

comment on column control.sessions.opened_with is 'a session with a password or link alone is valid only while its member needs no second factor';

alter table control.workspaces
  add column second_factor_from text collate "C",
  add constraint workspaces_second_factor_from_known
    check (second_factor_from in ('viewer', 'operator', 'admin', 'owner'));

comment on column control.workspaces.second_factor_from is 'members with this role or above need a second factor; null: nobody needs one';
