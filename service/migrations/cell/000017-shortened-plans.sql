-- An earlier end of a running plan, as when it is cancelled at the period's end, is a change of its own in the plan's history.

alter table cell.assignments drop constraint assignments_change_known;
alter table cell.assignments add constraint assignments_change_known check (change >= 1 and change <= 6) not valid;
alter table cell.assignments validate constraint assignments_change_known;

comment on column cell.assignments.change is
  '1: started, 2: resumed, 3: extended, 4: version changed, 5: ended, 6: shortened';
