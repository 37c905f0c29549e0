-- During an upgrade, processes of two releases use one database. A release writes new forms of stored data only after
-- `purser migrate --finish` has raised this number, and a release that does not know the number cannot use the database.
-- Locks: cell.identity (brief)

alter table cell.identity
add column data_format smallint not null default 1,
add constraint identity_data_format_positive check (data_format > 0);
