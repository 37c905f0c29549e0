\set n :n + 1
\set customer random(1, :customers)
begin;
insert into keys (project_id, key, environment_id, endpoint, fingerprint, allowed, reason, ledger_id, recorded_at) values (1, 'bench-' || :run || '-' || :client_id || '-' || :n, 1, 2, '\x00112233445566778899aabbccddeeff', true, null, uuidv7(), now()) returning ledger_id \gset
update balances set balance = balance - 10 where customer_id = 'customer_' || :customer and balance >= 10 returning balance \gset
insert into ledger (id, customer_id, feature, quantity, amount, balance_after, recorded_at) values (:ledger_id, 'customer_' || :customer, 'image.render', 1, -10, :balance, now());
commit;
