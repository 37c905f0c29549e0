-- An API key may reverse charges, and the audit then names it as the actor.
-- Locks: cell.audit (brief)

-- Not validated: existing rows satisfy the stricter constraint that this one replaces.
alter table cell.audit
drop constraint audit_actor_known,
add constraint audit_actor_known check (actor_kind in ('member', 'token', 'api_key', 'command', 'system')) not valid;
