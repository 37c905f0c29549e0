-- Usage events: spec 2.3. Partitioned by the month of recorded_at; a late event lands in the present.

create table cell.events (
  recorded_at timestamptz not null,
  -- UUIDv7 of recorded_at, so that an id alone finds its partition.
  id uuid not null,
  occurred_at timestamptz not null,
  customer_number bigint not null,
  environment_id integer not null,
  quantity integer not null,
  feature_id integer,
  event text collate "C" not null,
  request_id text collate "C" not null,
  metadata jsonb,
  constraint events_pkey primary key (recorded_at, id),
  constraint events_feature_id_null check (feature_id is null),
  constraint events_quantity_range check (quantity >= 1 and quantity <= 1000000),
  constraint events_event_length check (char_length(event) >= 1 and char_length(event) <= 120)
) partition by range (recorded_at);

comment on column cell.events.feature_id is 'always null: an event belongs to no feature and moves no credits (spec 2.3)';

create trigger events_refuse_change
before update or delete on cell.events
for each row execute function cell.refuse_change();

create trigger events_refuse_truncate
before truncate on cell.events
for each statement execute function cell.refuse_change();
