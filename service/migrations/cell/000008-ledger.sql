-- Every change of a wallet, and every refusal: append-only, but for the metadata of a customer who is erased.

create function cell.refuse_change_but_erasure() returns trigger
language plpgsql
set search_path = pg_catalog
as $$
begin
  if tg_op = 'UPDATE' and new.metadata is null and to_jsonb(new) - 'metadata' = to_jsonb(old) - 'metadata' then
    return new;
  end if;
  raise exception '% on %.% is refused: the table is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'restrict_violation', constraint = 'append_only';
end
$$;

drop trigger events_refuse_change on cell.events;
create trigger events_refuse_change
before update or delete on cell.events
for each row execute function cell.refuse_change_but_erasure();

-- One entry for each allowed consume, even of 0 credits, so that a wallet, limits included, is the fold of its ledger.
create table cell.ledger (
  recorded_at timestamptz not null,
  customer_number bigint not null,
  sequence bigint not null,
  amount bigint not null,
  -- Of the pool.
  balance_after bigint not null,
  -- Null: when it was recorded.
  effective_at timestamptz,
  -- Of a consume: what it was asked under.
  key_hash uuid,
  -- Of a reversal: the consume's sequence.
  reverses bigint,
  environment_id integer not null,
  pool_id integer not null,
  feature_id integer,
  quantity integer,
  plan_version_id integer,
  assignment_number integer,
  kind smallint not null,
  -- Which grants gave or took how much, signed like the amount: 'grant:amount,…'.
  parts text collate "C" not null,
  metadata jsonb,
  -- Also finds a consume by its id, which is made of these three.
  constraint ledger_pkey primary key (customer_number, sequence, recorded_at),
  constraint ledger_balance_after_not_negative check (balance_after >= 0),
  constraint ledger_quantity_positive check (quantity >= 1),
  constraint ledger_amount_sign check (
    case kind
      when 1 then amount >= 0
      when 2 then amount <= 0
      when 3 then amount < 0
      when 4 then amount < 0
      when 5 then amount >= 0
      else false
    end
  )
) partition by range (recorded_at);

-- How much of a consume was reversed. Holds reversals alone, so charges do not pay for it.
create index ledger_reverses on cell.ledger (customer_number, reverses) where reverses is not null;

comment on column cell.ledger.kind is '1: grant, 2: consume, 3: expire, 4: revoke, 5: reverse';

-- Why a consume was denied, with the arithmetic of the moment.
create table cell.denials (
  recorded_at timestamptz not null,
  -- UUIDv7 of recorded_at.
  id uuid not null,
  customer_number bigint not null,
  -- The wallet's at the decision: the ledger up to it explains the rest.
  sequence bigint not null,
  credits_required bigint not null,
  balance bigint not null,
  limit_quantity bigint,
  limit_used bigint,
  resets_at timestamptz,
  key_hash uuid not null,
  environment_id integer not null,
  feature_id integer not null,
  quantity integer not null,
  plan_version_id integer,
  reason smallint not null,
  metadata jsonb,
  constraint denials_pkey primary key (recorded_at, id),
  constraint denials_reason_known check (reason >= 1 and reason <= 6)
) partition by range (recorded_at);

comment on column cell.denials.reason is
  '1: customer_blocked, 2: customer_not_found, 3: no_active_plan, 4: feature_not_in_plan, 5: limit_reached, 6: insufficient_credits';

create index denials_customer on cell.denials (customer_number, recorded_at);

do $$
declare
  name text;
begin
  foreach name in array array['ledger', 'denials'] loop
    execute format(
      'create trigger %I before update or delete on cell.%I for each row execute function cell.refuse_change_but_erasure()',
      name || '_refuse_change', name);
    execute format(
      'create trigger %I before truncate on cell.%I for each statement execute function cell.refuse_change()',
      name || '_refuse_truncate', name);
  end loop;
end
$$;

-- What an answer says beyond its subject; which of them mean something is for its format to say.
alter table cell.keyed_requests
add column credits bigint,
add column balance bigint,
add column resets_at timestamptz,
add column limit_quantity bigint,
add column limit_used bigint,
add column limit_resets_at timestamptz,
add column reason smallint;

-- What people and automation did, with before and after.
create table cell.audit (
  environment_id integer not null,
  id uuid not null,
  recorded_at timestamptz not null,
  actor_kind text not null,
  actor_id text,
  request_id text,
  action text not null,
  subject text not null,
  customer_number bigint,
  before jsonb,
  after jsonb,
  constraint audit_pkey primary key (environment_id, id),
  constraint audit_actor_known check (actor_kind in ('member', 'token', 'command', 'system'))
);

create trigger audit_refuse_change
before update or delete on cell.audit
for each row execute function cell.refuse_change();

create trigger audit_refuse_truncate
before truncate on cell.audit
for each statement execute function cell.refuse_change();
