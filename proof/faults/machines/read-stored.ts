import pg from "pg";
import type { Stored, StoredEvent, StoredKey } from "../check/stored.ts";
import { pause } from "../pause.ts";

const QUIET_WITHIN_MS = 15_000;

/** Everything the database holds of the run, once nobody writes to it any more. Throws when it cannot be whole. */
export async function readStored(url: string): Promise<Stored> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await untilQuiet(client);
    await client.query("begin isolation level repeatable read read only");
    const events = await client.query<StoredEvent>(`
      select
        e.id::text as "id",
        e.metadata ->> 'marker' as "marker",
        c.customer_id as "customerId",
        e.event as "event",
        e.quantity as "quantity",
        e.feature_id as "featureId"
      from cell.events as e
      left join cell.customers as c
        on c.environment_id = e.environment_id
        and c.number = e.customer_number`);
    const keys = await client.query<StoredKey>(`
      select k.key as "key", k.subject_id::text as "subjectId"
      from cell.keyed_requests as k`);
    const counts = await client.query<{ events: number; keys: number }>(`
      select
        (select count(*)::integer from cell.events) as "events",
        (select count(*)::integer from cell.keyed_requests) as "keys"`);
    await client.query("commit");
    const [count] = counts.rows;
    if (count?.events !== events.rows.length || count.keys !== keys.rows.length)
      throw new Error("the tables hold another number of rows than were read");
    return { events: events.rows, keys: keys.rows };
  } finally {
    await client.end();
  }
}

/** The backend of a killed process may still be at its last commit: its rows must not appear after we have looked. */
async function untilQuiet(client: pg.Client): Promise<void> {
  const giveUpAtMs = performance.now() + QUIET_WITHIN_MS;
  for (;;) {
    const { rowCount } = await client.query(`
      select from pg_stat_activity
      where backend_type = 'client backend'
        and pid <> pg_backend_pid()`);
    if (rowCount === 0) return;
    if (performance.now() > giveUpAtMs) throw new Error("somebody is still connected to the database");
    await pause(50);
  }
}
