-- Credits that were added to the wrong customer can move to the right one. A row links the two grants, and a grant moves at most once.
-- Locks: none

create table cell.grant_moves (
  environment_id integer not null,
  from_customer bigint not null,
  from_grant integer not null,
  to_customer bigint not null,
  to_grant integer not null,
  spent bigint not null,
  held bigint not null,
  recorded_at timestamptz not null,
  constraint grant_moves_pkey primary key (environment_id, from_customer, from_grant),
  constraint grant_moves_to_key unique (environment_id, to_customer, to_grant),
  constraint grant_moves_other_customer check (from_customer <> to_customer),
  constraint grant_moves_credits_range check (spent >= 0 and held >= 0)
);

comment on table cell.grant_moves is 'credits moved from a grant of one customer to a grant of another';
comment on column cell.grant_moves.to_grant is 'the grant that the move created; its credits are the credits that moved';
comment on column cell.grant_moves.spent is 'credits of the old grant that were spent before the move';
comment on column cell.grant_moves.held is 'credits of the old grant that open holds set aside; they did not move';

create trigger grant_moves_refuse_change
before update or delete on cell.grant_moves
for each row execute function cell.refuse_change();

create trigger grant_moves_refuse_truncate
before truncate on cell.grant_moves
for each statement execute function cell.refuse_change();
