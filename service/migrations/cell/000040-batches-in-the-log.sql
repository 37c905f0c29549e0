-- The request log has one line for a batch of events, with the numbers of accepted, replayed and rejected ones.
-- Locks: cell.request_log (brief)

alter table cell.request_log add column counts jsonb;

comment on column cell.request_log.counts is 'of a batch of events: how many were accepted, replayed and rejected';
