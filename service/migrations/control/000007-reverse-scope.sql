-- An API key may be allowed to reverse charges. No key gets this scope by default.
-- Locks: control.api_keys (brief)

alter table control.api_keys
drop constraint api_keys_scopes_known,
add constraint api_keys_scopes_known check (scopes <@ array['check', 'consume', 'events', 'reverse']);
