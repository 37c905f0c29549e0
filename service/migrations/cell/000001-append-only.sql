-- History is added to, never rewritten: the trigger says so even to a superuser's careless session.

create function cell.refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  raise exception '% on %.% is refused: the table is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;
