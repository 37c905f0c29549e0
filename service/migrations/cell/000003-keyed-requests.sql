-- What was asked under an idempotency key and what was answered: spec 4.1. Scope is the project, so test and
-- live share one key space and a reuse across them is seen. Hash partitions keep each index small enough to vacuum.

create table cell.keyed_requests (
  project_id integer not null,
  -- The first 16 bytes of SHA-256 of the key; uuid is the compact type for 16 bytes.
  key_hash uuid not null,
  environment_id integer not null,
  recorded_at timestamptz not null,
  -- The first 16 bytes of SHA-256 over the canonical request.
  fingerprint uuid not null,
  -- What the answer is about: the event's id.
  subject_id uuid not null,
  endpoint smallint not null,
  -- How to read the answer; a release reads a format before any release writes it.
  answer_format smallint not null,
  key text collate "C" not null,
  -- No check constraints here: each statement would parse them again for each partition it touches.
  constraint keyed_requests_pkey primary key (project_id, key_hash)
) partition by hash (key_hash);

comment on column cell.keyed_requests.endpoint is '2: consume, 3: events';

do $$
begin
  for remainder in 0..7 loop
    execute format(
      'create table cell.keyed_requests_%s partition of cell.keyed_requests for values with (modulus 8, remainder %s)',
      remainder, remainder);
  end loop;
end
$$;

-- An answer, once given, is never another. Deletion stays possible: a bounded key may end.
create trigger keyed_requests_refuse_update
before update on cell.keyed_requests
for each row execute function cell.refuse_change();
