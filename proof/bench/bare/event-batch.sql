\set n :n + 1
begin;
insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, metadata, request_id) select now(), uuidv7(), :environment, :first + floor(random() * :customers)::bigint, 'tokens.generated', 1250, now(), '{"model": "small"}', 'req_01m7e9ftvtfdg9c5xcbfsgswed' from generate_series(1, :events);
insert into cell.keyed_requests (project_id, key_hash, environment_id, fingerprint, subject_id, endpoint, answer_format, key, recorded_at) select :project, gen_random_uuid(), :environment, gen_random_uuid(), uuidv7(), 3, 1, 'bench-' || :run || '-' || :client_id || '-' || :n || '-' || i, now() from generate_series(1, :events) as i;
commit;
