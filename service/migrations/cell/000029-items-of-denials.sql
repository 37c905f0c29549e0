-- A denied request with items: all of them, and which one was denied.
-- Locks: cell.denials (brief)

alter table cell.denials
add column item smallint,
add column items text collate "C";

comment on column cell.denials.item is 'the index of the denied item; null for a request without items';
comment on column cell.denials.items is 'JSON: feature and quantity of each item; null for a request without items';
comment on column cell.denials.credits_required is
  'credits that the denied item needs from its pool, together with the items before it';
