-- What lists and searches of the management API walk along. A search finds what begins with its text, in any case.

create index customers_search_id on cell.customers (environment_id, lower(customer_id) text_pattern_ops, number);
create index customers_search_name on cell.customers (environment_id, lower(name) text_pattern_ops, number)
where name is not null;
create index customers_search_email on cell.customers (environment_id, lower(email) text_pattern_ops, number)
where email is not null;
create index customers_search_billing_reference
on cell.customers (environment_id, lower(billing_reference) text_pattern_ops, number)
where billing_reference is not null;

-- What a customer was told no for, and what was done for one.
create index audit_customer on cell.audit (environment_id, customer_number, id) where customer_number is not null;

-- A plan or feature that is no longer offered keeps its history and whoever has it.
alter table cell.plans add column archived_at timestamptz;
alter table cell.features add column archived_at timestamptz;

-- The next version of a plan while people still work on it: whole, as the management API takes it.
create table cell.plan_drafts (
  environment_id integer not null,
  plan_key text collate "C" not null,
  content jsonb not null,
  changed_at timestamptz not null,
  constraint plan_drafts_pkey primary key (environment_id, plan_key)
);

-- Names that people gave to event keys. Events need none.
create table cell.event_keys (
  environment_id integer not null,
  key text collate "C" not null,
  name text not null,
  unit text,
  constraint event_keys_pkey primary key (environment_id, key)
);

-- What was asked lately and how it went: buffered, lossy, bounded, and never on the way of a request.
create table cell.request_log (
  environment_id integer not null,
  -- UUIDv7 of when it was written, one writer after the other: who reads on after the newest one misses none.
  id uuid not null,
  -- When it was answered.
  recorded_at timestamptz not null,
  request_id text collate "C" not null,
  endpoint text collate "C" not null,
  status smallint not null,
  -- Of an error.
  code text collate "C",
  -- Of a denial.
  reason text collate "C",
  is_replay boolean not null,
  customer_number bigint,
  -- The feature or event key as it came, known or not.
  subject text collate "C",
  key_hash uuid,
  duration_ms real not null,
  -- Of a refused reuse of a key: what came, for comparing it with what is stored. Of its metadata a hash alone.
  refused jsonb,
  constraint request_log_pkey primary key (environment_id, id)
);

create index request_log_key_hash on cell.request_log (environment_id, key_hash, id) where key_hash is not null;
create index request_log_customer on cell.request_log (environment_id, customer_number, id)
where customer_number is not null;
create index request_log_code on cell.request_log (environment_id, code, id) where code is not null;
create index request_log_reason on cell.request_log (environment_id, reason, id) where reason is not null;

-- How many requests there were in an hour, those too that the log left out.
create table cell.request_counts (
  environment_id integer not null,
  hour timestamptz not null,
  endpoint text collate "C" not null,
  -- The code of an error, the reason of a denial, or ok.
  outcome text collate "C" not null,
  requests bigint not null,
  constraint request_counts_pkey primary key (environment_id, hour, endpoint, outcome)
) with (fillfactor = 50);

-- With the id a list of a customer's denials is read off the index, whatever the planner thinks of their number.
drop index cell.denials_customer;
create index denials_customer on cell.denials (customer_number, recorded_at, id);

-- An erased person lives on in nothing that was written about them. A grant's note goes; its reference is taken for ever,
-- and is kept as a hash of itself.
create function cell.erased_reference(reference text) returns text
language sql
stable
strict
return 'erased:' || encode(sha256(convert_to(reference, 'UTF8')), 'hex');

create or replace function cell.refuse_change_but_revocation() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
declare
  mutable constant text[] := array['revoked_at', 'note', 'reference'];
begin
  if tg_op = 'UPDATE'
    and to_jsonb(new) - mutable = to_jsonb(old) - mutable
    and (new.revoked_at is not distinct from old.revoked_at or old.revoked_at is null)
    and (new.note is not distinct from old.note or new.note is null)
    and (new.reference is not distinct from old.reference or new.reference = cell.erased_reference(old.reference))
  then
    return new;
  end if;
  raise exception '% on %.% is refused: a grant can only be revoked, or its words be erased',
    tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;

-- A key's text may name a person. What it was used for is found by its hash, which stays.
create function cell.refuse_change_but_erased_key() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  if new.key = '' and to_jsonb(new) - 'key' = to_jsonb(old) - 'key' then
    return new;
  end if;
  raise exception '% on %.% is refused: the table is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;

drop trigger keyed_requests_refuse_update on cell.keyed_requests;
create trigger keyed_requests_refuse_update
before update on cell.keyed_requests
for each row execute function cell.refuse_change_but_erased_key();
