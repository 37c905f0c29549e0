-- A charge that settles a hold names it, and says how much of its price no credits covered.
-- Locks: cell.ledger (brief)

alter table cell.ledger add column hold_number integer;
alter table cell.ledger add column uncovered bigint;

comment on column cell.ledger.hold_number is 'the hold whose end wrote the entry: its charges, and credits that could not return; a reversal has the hold of its charge';
comment on column cell.ledger.uncovered is 'the part of the price that no credits covered, or that a reversal undoes; null if there is none';
