-- Members can sign in with an OpenID Connect provider, with or without a password.
-- Locks: control.members (brief), control.sessions (brief)

create table control.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  member_id integer not null,
  connected_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  constraint identities_pkey primary key (issuer, subject),
  constraint identities_member_id_issuer_key unique (member_id, issuer),
  constraint identities_member_id_fkey foreign key (member_id) references control.members (id),
  constraint identities_issuer_length check (char_length(issuer) >= 1 and char_length(issuer) <= 500),
  constraint identities_subject_length check (char_length(subject) >= 1 and char_length(subject) <= 255)
);

comment on table control.identities is 'the account of a member at a single sign-on provider';
comment on column control.identities.subject is 'the provider''s permanent name for the account; the email can change';

create table control.sign_on_attempts (
  token_hash bytea not null,
  state text collate "C" not null,
  nonce text collate "C" not null,
  verifier text collate "C" not null,
  return_path text not null,
  member_id integer,
  session_hash bytea,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint sign_on_attempts_pkey primary key (token_hash),
  constraint sign_on_attempts_member_id_fkey foreign key (member_id) references control.members (id),
  constraint sign_on_attempts_connect_whole check ((member_id is null) = (session_hash is null))
);

create index sign_on_attempts_expires_at on control.sign_on_attempts (expires_at);

comment on table control.sign_on_attempts is 'a browser that was sent to the provider; deleted when it returns, or after 10 minutes';
comment on column control.sign_on_attempts.token_hash is 'SHA-256 of what the cookie holds';
comment on column control.sign_on_attempts.member_id is 'the member who connects an account; null: signs in';
comment on column control.sign_on_attempts.session_hash is 'the session in which the member connects an account';

alter table control.sessions add column issuer text collate "C";

comment on column control.sessions.issuer is 'the provider that opened the session; null: opened with a password or link';
