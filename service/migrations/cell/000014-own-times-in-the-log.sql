-- Of an event that said when it happened: history windows are measured on that, and so is what the log says of the event.
-- Null: it happened when it was recorded.

alter table cell.request_log add column occurred_at timestamptz;
