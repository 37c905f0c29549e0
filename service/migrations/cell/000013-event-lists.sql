-- What lists and exports of usage events walk along: by the events' own time, which history windows and filters are measured
-- on. An event pays for them: docs/decisions/0013 has the figures. Parts of the table that are made later get them by themselves.
-- Made while the table is empty, as the indexes of migration 12 are.

create index events_environment on cell.events (environment_id, occurred_at, id);
-- Few of one customer are of the same moment, so that their ids need not stand in it: a third less of it is written.
create index events_customer on cell.events (customer_number, occurred_at);
