-- What newer formats of stored responses add.
-- Locks: cell.keyed_requests (brief)

alter table cell.keyed_requests
add column details text;

comment on column cell.keyed_requests.details is
  'JSON. Format 3: the affordable quantity. Format 4: the denied item, the affordable quantity, and for each item the credits '
  'required, its pool, balance and reset, and the quantity, use and reset of its limit';
