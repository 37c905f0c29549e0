-- Which transaction wrote a row, for the sums of usage. The columns alone: adding them takes each table for itself, and must let
-- go of it at once.

-- All rows below a number are final once every transaction below it is over. recorded_at
-- cannot say that: an event whose commit had an unknown outcome is written again later under its first time.
-- The default is evaluated once for the rows there are, so that no table is rewritten: all of them are of this transaction.
-- What is added to the server's own number is no constant of ours: see cell.follow_server.
alter table cell.events
add column transaction_number bigint not null default (pg_current_xact_id()::text::bigint + 0);
alter table cell.ledger
add column transaction_number bigint not null default (pg_current_xact_id()::text::bigint + 0);
alter table cell.denials
add column transaction_number bigint not null default (pg_current_xact_id()::text::bigint + 0);
