-- The caller's id stands here once; every other row uses the number, so that a person can be erased
-- while amounts stay. No foreign key points here from the hot tables: it would cost each insert a look-up.

create table cell.customers (
  environment_id integer not null,
  number bigint generated always as identity,
  customer_id text collate "C" not null,
  created_at timestamptz not null,
  constraint customers_pkey primary key (environment_id, number),
  constraint customers_customer_id_key unique (environment_id, customer_id),
  constraint customers_customer_id_length check (char_length(customer_id) >= 1 and char_length(customer_id) <= 255)
);
