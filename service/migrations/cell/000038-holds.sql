-- Credits that are set aside for work whose cost is not known yet. Each change of a hold is a row; the open ones are listed by their end.
-- Locks: none

create table cell.hold_changes (
  environment_id integer not null,
  customer_number bigint not null,
  number integer not null,
  hold_number integer not null,
  kind smallint not null,
  sequence bigint not null,
  effective_at timestamptz not null,
  recorded_at timestamptz not null,
  opened_at timestamptz not null,
  expires_at timestamptz not null,
  state text collate "C" not null,
  key_hash uuid,
  member_id text collate "C",
  metadata jsonb,
  fingerprint uuid,
  answer text,
  constraint hold_changes_pkey primary key (environment_id, customer_number, number),
  constraint hold_changes_hold_key unique (environment_id, customer_number, hold_number, number),
  constraint hold_changes_number_positive check (number >= 1 and hold_number >= 1),
  constraint hold_changes_kind_known check (kind between 1 and 7),
  constraint hold_changes_end_later check (expires_at > opened_at)
);

comment on table cell.hold_changes is 'changes of holds; the last row of a hold is its present state';
comment on column cell.hold_changes.number is 'counts within the customer''s wallet, from 1';
comment on column cell.hold_changes.hold_number is 'counts within the customer''s wallet, from 1';
comment on column cell.hold_changes.kind is '1 opened, 2 extended, 3 settled, 4 released, 5 expired, 6 charged when it expired, 7 credits of it were revoked';
comment on column cell.hold_changes.sequence is 'the wallet''s last ledger entry after the change';
comment on column cell.hold_changes.state is 'JSON: terms, items and held credits after the change';
comment on column cell.hold_changes.key_hash is 'the idempotency key that the hold was opened with';
comment on column cell.hold_changes.member_id is 'the member for whom the hold was opened; also on its charges';
comment on column cell.hold_changes.metadata is 'the caller''s metadata of the request that made the change';
comment on column cell.hold_changes.fingerprint is 'of the request that settled or released the hold, without metadata';
comment on column cell.hold_changes.answer is 'JSON: what the response to that request says besides the caller''s own fields; a repeated request gets it again';

create trigger hold_changes_refuse_change
before update or delete on cell.hold_changes
for each row execute function cell.refuse_change_but_erasure();

create trigger hold_changes_refuse_truncate
before truncate on cell.hold_changes
for each statement execute function cell.refuse_change();

create table cell.open_holds (
  environment_id integer not null,
  customer_number bigint not null,
  number integer not null,
  change_number integer not null,
  expires_at timestamptz not null,
  constraint open_holds_pkey primary key (environment_id, customer_number, number)
);

comment on table cell.open_holds is 'holds that have not ended, or whose end is not written yet';
comment on column cell.open_holds.change_number is 'the row in cell.hold_changes with the present state';
