-- A request can name the customer's member that caused it: a user, a team or an API key of theirs.
-- Locks: cell.ledger (brief)

alter table cell.ledger add column member_id text collate "C";

comment on column cell.ledger.member_id is 'the customer''s member named by the charged request, or by the reversed one; null if it named none';
