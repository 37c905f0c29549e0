-- A customer's number is theirs alone in the whole database: rows are found by it without their environment. Logical replication copies no
-- sequence, so that a replica would give numbers out again, and in another environment nothing refused that.

create unique index customers_number_key on cell.customers (number);
