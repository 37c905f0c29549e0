-- Lists customers by name. A customer without a name is listed by its ID, as the dashboard shows it.
-- Locks: cell.customers (index)

create index customers_shown_name
on cell.customers (environment_id, lower(coalesce(name, customer_id) collate "default") text_pattern_ops, number)
where erased_at is null;
