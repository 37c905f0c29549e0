-- Locks: cell.denials (brief)

alter table cell.denials add column member_id text collate "C";

comment on column cell.denials.member_id is 'the customer''s member named by the denied request; null if it named none';
