-- Setting and dropping a pending plan change are changes of their own in the plan's history.
-- Existing rows fulfil the narrower rule, so they need not be read again.
-- Locks: cell.assignments (brief)

alter table cell.assignments drop constraint assignments_change_known;
alter table cell.assignments add constraint assignments_change_known check (change >= 1 and change <= 8) not valid;

comment on column cell.assignments.change is
  '1: started, 2: resumed, 3: extended, 4: version changed, 5: ended, 6: shortened, 7: scheduled, 8: unscheduled';
