-- A charge names the overrides that changed its price or limit, so that it can be verified and reversed by the same terms.
-- Locks: cell.ledger (brief)

alter table cell.ledger add column overrides_number integer;

comment on column cell.ledger.overrides_number is 'the overrides that changed the terms of the charged feature; null if the plan alone decided';
