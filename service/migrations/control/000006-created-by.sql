-- Records who created each token, API key and link, so that what a person or a token created ends with them.

alter table control.management_tokens
  add column created_by_kind text collate "C",
  add column created_by_id text,
  -- The member at the start of the chain of creators; null where the command line stands there.
  add column root_member_id integer,
  add column manages_access boolean not null default false,
  add constraint management_tokens_created_by_known
    check (created_by_kind in ('member', 'token', 'command', 'system')),
  add constraint management_tokens_root_member_id_fkey foreign key (root_member_id) references control.members (id);

comment on column control.management_tokens.created_by_kind is 'null: unknown, and the token is not valid';
comment on column control.management_tokens.manages_access is 'whether it may manage members, links and tokens';

alter table control.api_keys
  add column created_by_kind text collate "C",
  add column created_by_id text,
  add constraint api_keys_created_by_known check (created_by_kind in ('member', 'token', 'command', 'system'));

comment on column control.api_keys.created_by_kind is 'null: unknown';

alter table control.links
  add column created_by_kind text collate "C",
  add column created_by_id text,
  add constraint links_created_by_known check (created_by_kind in ('member', 'token', 'command', 'system'));

comment on column control.links.created_by_kind is 'null: unknown, and the link is not valid, unless it is for the first owner';

-- The audit has recorded the creation of every token and key since the first release. No token from before manages access.
update control.management_tokens as t
set created_by_kind = a.actor_kind, created_by_id = a.actor_id
from control.audit as a
where a.workspace_id = t.workspace_id
  and a.action = 'token.created'
  and a.after ->> 'id' = t.id::text;

-- A token of an unknown creator is bound to nobody.
update control.management_tokens
set revoked_at = now()
where created_by_kind is null
  and revoked_at is null;

update control.api_keys as k
set created_by_kind = a.actor_kind, created_by_id = a.actor_id
from control.audit as a
where a.environment_id = k.environment_id
  and a.action in ('api_key.created', 'api_key.rotated')
  and a.after ->> 'id' = k.id::text;

-- A token that a token created ends with it, and belongs to the member who began the chain.
with recursive chain as (
  select
    t.id,
    case when t.created_by_kind = 'member' then t.created_by_id::integer end as root_member_id,
    t.expires_at,
    t.revoked_at
  from control.management_tokens as t
  where t.created_by_kind is distinct from 'token'
  union all
  select t.id, c.root_member_id, least(t.expires_at, c.expires_at), least(t.revoked_at, c.revoked_at)
  from chain as c
  join control.management_tokens as t
    on t.created_by_kind = 'token'
    and t.created_by_id = c.id::text
)
update control.management_tokens as t
set root_member_id = c.root_member_id, expires_at = c.expires_at, revoked_at = c.revoked_at
from chain as c
where c.id = t.id;

create index management_tokens_root_member_id on control.management_tokens (root_member_id);
create index management_tokens_created_by_token on control.management_tokens (created_by_id)
  where created_by_kind = 'token';
create index links_created_by on control.links (created_by_id) where used_at is null;
