-- Lists customers by name. A customer without a name is listed by its ID, as the dashboard shows it. Not partial: without statistics, the
-- planner prefers a partial index for other queries that exclude erased customers.
-- Locks: cell.customers (index)

create index customers_shown_name
on cell.customers (environment_id, lower(coalesce(name, customer_id) collate "default") text_pattern_ops, number);
