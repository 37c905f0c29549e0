-- Terms for one customer that take precedence over those of the plan. Each change is a new row; the wallet has a copy of the current ones.
-- Locks: none

create table cell.overrides (
  environment_id integer not null,
  customer_number bigint not null,
  number integer not null,
  effective_at timestamptz not null,
  recorded_at timestamptz not null,
  ends_at timestamptz,
  terms text collate "C" not null,
  constraint overrides_pkey primary key (environment_id, customer_number, number),
  constraint overrides_number_positive check (number >= 1),
  constraint overrides_end_later check (ends_at > effective_at)
);

comment on table cell.overrides is 'terms for one customer; each row replaces the one before it';
comment on column cell.overrides.number is 'counts within the customer''s wallet, from 1';
comment on column cell.overrides.terms is 'JSON: features and allowances, in the form of the wallet''s state; both empty if the row only ended the terms before it';

create trigger overrides_refuse_change
before update or delete on cell.overrides
for each row execute function cell.refuse_change();

create trigger overrides_refuse_truncate
before truncate on cell.overrides
for each statement execute function cell.refuse_change();
