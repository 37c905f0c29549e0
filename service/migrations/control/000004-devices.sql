-- Browsers that have logged in before: guesses of others at a member's password do not keep them out.

create table control.devices (
  -- SHA-256 of what the cookie holds. A browser may be several members'.
  token_hash bytea not null,
  member_id integer not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint devices_pkey primary key (token_hash, member_id),
  constraint devices_member_id_fkey foreign key (member_id) references control.members (id)
);

create index devices_member_id on control.devices (member_id);
