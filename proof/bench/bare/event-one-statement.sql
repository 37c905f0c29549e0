\set n :n + 1
\set customer random(1, 100000)
with key as (insert into keys (project_id, key, environment_id, endpoint, fingerprint, event_id, recorded_at) values (1, 'bench-' || :run || '-' || :client_id || '-' || :n, 1, 3, '\x00112233445566778899aabbccddeeff', gen_random_uuid(), now())) insert into events (id, environment_id, customer_id, event, quantity, metadata, occurred_at, recorded_at, request_id) values (uuidv7(), 1, 'customer_' || :customer, 'tokens.generated', 1250, '{"model": "small"}', now(), now(), 'req_01m7e9ftvtfdg9c5xcbfsgswed');
