-- A customer's open request for a top-up is repeated after a day, so the table of due plans also names these customers.

comment on table cell.due_plans is 'when the plan of a customer ends, a pending plan starts or a request for a top-up is repeated, so that a job finds it';
