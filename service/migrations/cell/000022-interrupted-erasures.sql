-- A job looks every minute for erasures that were interrupted. There are next to none, so the index is nearly empty.

create index customers_erasing
on cell.customers (number)
where erased_at is not null and customer_id like 'erasing:%';
