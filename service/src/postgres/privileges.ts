import pg, { type Client } from "pg";

const KEY_PARTITIONS = Array.from({ length: 8 }, (_, part) => `cell.keyed_requests_${part}`).join(", ");

/**
 * Grants the minimal privileges for a service with a separate role: it cannot create tables or rewrite history.
 * `update (id)` is granted because PostgreSQL requires it for `select … for update`; a trigger rejects real updates.
 * `endsKeys` is true if IDEMPOTENCY_DAYS is set: the service then also deletes expired keys. Otherwise, that privilege is revoked.
 */
export async function grantToService(
  client: Client,
  role: string,
  { endsKeys }: { readonly endsKeys: boolean },
): Promise<void> {
  const to = pg.escapeIdentifier(role);
  await client.query(`
    grant usage on schema control, cell to ${to};
    grant select on all tables in schema control to ${to};
    grant insert, update (last_used_at, name, revoked_at, expires_at) on control.api_keys to ${to};
    grant insert, update on control.members, control.management_tokens, control.links to ${to};
    grant insert, delete on control.member_roles to ${to};
    grant insert, delete, update (last_used_at, address, opened_with) on control.sessions to ${to};
    grant insert, delete, update (name, signature_count, last_used_at) on control.passkeys to ${to};
    grant insert, delete, update (used_at) on control.recovery_codes to ${to};
    grant insert, delete, update (attempts) on control.challenges to ${to};
    grant insert, update (created_at, expires_at), delete on control.devices to ${to};
    grant insert, update (member_id, connected_at, last_used_at), delete on control.identities to ${to};
    grant insert, update (expires_at), delete on control.sign_on_attempts to ${to};
    grant insert on control.audit, control.projects, control.environments to ${to};
    grant update (name, plan_key, second_factor_from) on control.workspaces to ${to};
    grant update (name) on control.projects to ${to};
    grant insert, update on control.workspace_plans to ${to};
    grant select on cell.migrations, cell.identity to ${to};
    grant select, insert, update (customer_id, name, email, billing_reference, metadata, erased_at) on cell.customers
      to ${to};
    grant usage on sequence cell.customers_number_seq to ${to};
    grant select on all sequences in schema control, cell to ${to};
    grant select, insert, update (sequence, decided_at, balance, is_blocked, state) on cell.wallets to ${to};
    grant select, insert, update on cell.catalogs, cell.pools, cell.features, cell.plans to ${to};
    grant select, insert on cell.plan_versions, cell.plan_allowances, cell.plan_features, cell.assignments,
      cell.overrides, cell.grant_moves, cell.audit to ${to};
    grant select, insert, update, delete on cell.open_holds to ${to};
    grant select, insert, update (revoked_at, note, reference) on cell.grants to ${to};
    grant select, insert, update (metadata, member_id) on cell.ledger, cell.denials, cell.hold_changes to ${to};
    grant select, insert, update (key_hash, key) on cell.keyed_requests to ${to};
    grant select, insert, update (id, metadata, member_id) on cell.events to ${to};
    grant select, insert, update, delete on cell.plan_drafts, cell.event_keys to ${to};
    grant select, insert, delete on cell.request_log to ${to};
    grant select, insert, update, delete on cell.request_counts to ${to};
    grant select, insert on cell.meters to ${to};
    grant select, insert, update, delete on cell.usage_buckets, cell.usage_customer_days to ${to};
    grant select, update on cell.usage_progress, cell.sweeps to ${to};
    grant select, insert, update on cell.verifications, cell.webhooks to ${to};
    grant select, insert, delete on cell.notices to ${to};
    grant select, insert, update, delete on cell.deliveries, cell.due_plans to ${to};
    grant select, update (key_hash) on ${KEY_PARTITIONS} to ${to};
    ${endsKeys ? "grant" : "revoke"} delete on cell.keyed_requests, ${KEY_PARTITIONS} ${endsKeys ? "to" : "from"} ${to};
    grant execute on function cell.ensure_monthly_partitions(integer, integer), cell.next_transaction_number(),
      cell.is_other_server(), cell.add_to_buckets(anyarray, smallint[], anyarray) to ${to};
  `);
}
