-- What a customer has: one wallet row that every decision locks, and the grants and plan changes that made it.

alter table cell.customers
add column name text,
add column email text,
add column billing_reference text,
add column metadata jsonb,
add column erased_at timestamptz;

-- No column that changes is indexed, and a page keeps half its room free: an update stays on its page (HOT), and
-- touches no index.
create table cell.wallets (
  environment_id integer not null,
  customer_number bigint not null,
  -- Of the last ledger entry.
  sequence bigint not null,
  decided_at timestamptz not null,
  -- All pools together, for lists and filters.
  balance bigint not null,
  is_blocked boolean not null,
  -- Plan, grants and limit counters: read and written whole, in the form that store/cell/wallet-state.ts says.
  state text collate "C" not null,
  constraint wallets_pkey primary key (environment_id, customer_number),
  constraint wallets_balance_not_negative check (balance >= 0),
  constraint wallets_sequence_not_negative check (sequence >= 0)
) with (fillfactor = 50);

-- Every customer has a wallet.
insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
select
  c.environment_id,
  c.number,
  0,
  c.created_at,
  0,
  false,
  '[1,0,0,null,[],[]]'
from cell.customers as c;

-- Credits given: how they came about, never how many are left.
create table cell.grants (
  environment_id integer not null,
  customer_number bigint not null,
  -- Counted within the wallet.
  number integer not null,
  pool_id integer not null,
  kind smallint not null,
  credits bigint not null,
  recorded_at timestamptz not null,
  effective_at timestamptz not null,
  expires_at timestamptz,
  merged_into integer,
  revoked_at timestamptz,
  reference text collate "C",
  price_amount bigint,
  price_currency text collate "C",
  note text,
  constraint grants_pkey primary key (environment_id, customer_number, number),
  constraint grants_credits_range check (credits >= 0 and credits <= 9007199254740991),
  constraint grants_kind_known check (kind >= 1 and kind <= 4),
  constraint grants_expires_after check (expires_at > effective_at),
  constraint grants_price_whole check ((price_amount is null) = (price_currency is null))
);

comment on column cell.grants.kind is '1: allowance, 2: purchase, 3: manual, 4: promotion';

-- A payment's id names one grant of the environment, for ever.
create unique index grants_reference_key on cell.grants (environment_id, reference) where reference is not null;

-- The history of a customer's plans, one row for each change.
create table cell.assignments (
  environment_id integer not null,
  customer_number bigint not null,
  id bigint generated always as identity,
  -- Counted within the wallet; a plan that is taken up again within its period keeps its number.
  number integer not null,
  change smallint not null,
  plan_id integer not null,
  plan_version_id integer not null,
  anchor timestamptz not null,
  ends_at timestamptz,
  is_default boolean not null,
  effective_at timestamptz not null,
  recorded_at timestamptz not null,
  constraint assignments_pkey primary key (environment_id, customer_number, id),
  constraint assignments_change_known check (change >= 1 and change <= 5)
);

comment on column cell.assignments.change is '1: started, 2: resumed, 3: extended, 4: version changed, 5: ended';

create trigger assignments_refuse_change
before update or delete on cell.assignments
for each row execute function cell.refuse_change();

create trigger assignments_refuse_truncate
before truncate on cell.assignments
for each statement execute function cell.refuse_change();

-- Only a revocation may be written on a grant, once.
create function cell.refuse_change_but_revocation() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  if tg_op = 'UPDATE' and old.revoked_at is null and to_jsonb(new) - 'revoked_at' = to_jsonb(old) - 'revoked_at' then
    return new;
  end if;
  raise exception '% on %.% is refused: a grant can only be revoked', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;

create trigger grants_refuse_change
before update or delete on cell.grants
for each row execute function cell.refuse_change_but_revocation();

create trigger grants_refuse_truncate
before truncate on cell.grants
for each statement execute function cell.refuse_change();
