-- Erasing a customer removes the members, too. All three tables have the column from here on.
-- Locks: cell.events (brief)

alter table cell.events add column member_id text collate "C";

comment on column cell.events.member_id is 'the customer''s member that caused the event; null if the request named none';

create or replace function cell.refuse_change_but_erasure() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
declare
  erasable constant text[] := array['metadata', 'member_id'];
begin
  if tg_op = 'UPDATE'
    and new.metadata is null
    and new.member_id is null
    and to_jsonb(new) - erasable = to_jsonb(old) - erasable
  then
    return new;
  end if;
  raise exception '% on %.% is refused: the table is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;
