import pg, { type Client } from "pg";

/**
 * What a service that runs under a role of its own may do, and no more: it cannot create tables, nor rewrite history.
 * `update (id)` is there because PostgreSQL asks for it on `select … for update`; the trigger refuses any real update.
 */
export async function grantToService(client: Client, role: string): Promise<void> {
  const to = pg.escapeIdentifier(role);
  await client.query(`
    grant usage on schema control, cell to ${to};
    grant select on all tables in schema control to ${to};
    grant update (last_used_at) on control.api_keys to ${to};
    grant select on cell.migrations to ${to};
    grant select, insert on cell.customers to ${to};
    grant select, insert, update (key_hash) on cell.keyed_requests to ${to};
    grant select, insert, update (id) on cell.events to ${to};
    grant execute on function cell.ensure_monthly_partitions(integer) to ${to};
  `);
}
