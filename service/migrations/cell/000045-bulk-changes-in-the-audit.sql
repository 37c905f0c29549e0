-- Lists the audit log without the entries of single customers in bulk changes, of which there can be many in a row.
-- Locks: cell.audit (index)

create index audit_collapsed on cell.audit (environment_id, id) where after -> 'inBulk' is null;
