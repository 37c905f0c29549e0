-- Customer numbers stand in every consumeId and can never be changed. Each database takes them from its own range of 2^32, so
-- that two of them could exchange a project one day. The first one has ordinal 0 and goes on as it was.

create table cell.identity (
  id smallint not null,
  -- Numbers come from ordinal · 2^32 on; a consumeId has room for 256 ranges.
  ordinal smallint not null,
  constraint identity_pkey primary key (id),
  constraint identity_one check (id = 1),
  constraint identity_ordinal_range check (ordinal >= 0 and ordinal <= 255)
);

insert into cell.identity (id, ordinal) values (1, 0);

alter sequence cell.customers_number_seq minvalue 1 maxvalue 4294967295;

comment on column cell.keyed_requests.key_hash is
  'Of a UUIDv7 or ULID: 48 bits of its time, then 80 of SHA-256 of the key. Of any other key: 128 bits of SHA-256.';
