-- A denial names the overrides that changed the terms of the denied feature.
-- Locks: cell.denials (brief)

alter table cell.denials add column overrides_number integer;

comment on column cell.denials.overrides_number is 'the overrides that changed the terms of the denied feature; null if the plan alone decided';
