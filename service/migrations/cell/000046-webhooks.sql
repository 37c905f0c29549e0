-- Webhooks, the notices that tell them about customers, and one delivery for each notice and webhook.
-- Locks: cell.pools (brief), cell.catalogs (brief), cell.open_holds (index)

alter table cell.pools add column low_balances bigint[] not null default '{}';

comment on column cell.pools.low_balances is 'a balance that falls below one of these thresholds is low; highest first';

alter table cell.catalogs add column notice_types text[] not null default '{}';

comment on column cell.catalogs.notice_types is 'the types of notices that at least one enabled webhook receives';

create table cell.webhooks (
  id bigint generated always as identity,
  environment_id integer not null,
  url text not null,
  description text,
  types text[] not null,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  disabled_at timestamptz,
  disabled_by_failures boolean not null default false,
  deleted_at timestamptz,
  failing_since timestamptz,
  failed_at timestamptz,
  leased_by uuid,
  leased_until timestamptz,
  constraint webhooks_pkey primary key (id)
);

create index webhooks_environment on cell.webhooks (environment_id, id) where deleted_at is null;

comment on table cell.webhooks is 'a URL that is told about the customers of an environment';
comment on column cell.webhooks.types is 'the types of notices that it receives';
comment on column cell.webhooks.secret is 'signs every delivery, so it is stored as text';
comment on column cell.webhooks.previous_secret is 'also signs until `previous_secret_until`';
comment on column cell.webhooks.failing_since is 'the first failure since the last success, or since a day without attempts';
comment on column cell.webhooks.failed_at is 'the last failure';
comment on column cell.webhooks.leased_by is 'the process that delivers; another process may take over after `leased_until`';

create table cell.notices (
  number bigint generated always as identity,
  id uuid not null default gen_random_uuid(),
  environment_id integer not null,
  customer_number bigint not null,
  type text not null,
  sequence bigint not null,
  details text not null,
  effective_at timestamptz not null,
  recorded_at timestamptz not null,
  constraint notices_pkey primary key (number)
);

create index notices_environment on cell.notices (environment_id, number);
create index notices_environment_time on cell.notices (environment_id, recorded_at, number);
create index notices_customer on cell.notices (environment_id, customer_number, number);
create index notices_recorded on cell.notices (recorded_at);

comment on table cell.notices is 'what webhooks are told about a customer; deleted after 30 days';
comment on column cell.notices.id is 'the `webhook-id` of its deliveries; random, so that a failover never reuses it';
comment on column cell.notices.customer_number is '0 for a test';
comment on column cell.notices.sequence is 'the last ledger entry of the wallet after the change';

create table cell.deliveries (
  webhook_id bigint not null,
  notice bigint not null,
  customer_number bigint not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  due_at timestamptz not null,
  retried_since timestamptz not null,
  attempted_at timestamptz,
  status smallint,
  answer text,
  constraint deliveries_pkey primary key (webhook_id, notice),
  constraint deliveries_notice foreign key (notice) references cell.notices (number) on delete cascade,
  constraint deliveries_state_known check (state in ('pending', 'delivered', 'failed'))
);

create index deliveries_notice on cell.deliveries (notice);
create index deliveries_due on cell.deliveries (webhook_id, due_at, notice) where state = 'pending';
create index deliveries_undelivered on cell.deliveries (webhook_id, notice) where state <> 'delivered';
create index deliveries_order on cell.deliveries (webhook_id, customer_number, notice) where state = 'pending';

comment on table cell.deliveries is 'a notice and a webhook that receives it';
comment on column cell.deliveries.retried_since is 'a delivery fails for good three days after this time';
comment on column cell.deliveries.status is 'the HTTP status of the last answer; null if there was none';
comment on column cell.deliveries.answer is 'the beginning of the last answer, or why there was none';

create table cell.due_plans (
  environment_id integer not null,
  customer_number bigint not null,
  due_at timestamptz not null,
  constraint due_plans_pkey primary key (environment_id, customer_number)
);

create index due_plans_due on cell.due_plans (due_at);

comment on table cell.due_plans is 'when the plan of a customer ends or a pending plan starts, so that a job finds it';

create index open_holds_expires on cell.open_holds (expires_at);
