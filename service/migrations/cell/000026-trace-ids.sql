-- The request log keeps the id of the caller's trace, so that a denial can be found from the trace of the request it stopped.
-- Locks: cell.request_log (brief)

alter table cell.request_log add column trace_id uuid;
