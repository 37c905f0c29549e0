-- One request can charge several features: consecutive ledger entries, of which the first names the request and has its metadata.
-- This and the next two migrations each lock one table, because a running process locks the same tables in another order.
-- Locks: cell.ledger (brief)

alter table cell.ledger
add column item smallint,
add column items smallint,
add constraint ledger_item_known check ((item is null) = (items is null) and item >= 0 and item < items) not valid;

comment on column cell.ledger.item is
  'the index of the charge, or of the reversed charge, among the charges of its request; null if it is the only one';
comment on column cell.ledger.items is 'the number of charges of the request; null if it is the only one';
