import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Stored } from "../check/stored.ts";
import { COUNTS, TABLES } from "./stored-tables.ts";

const QUIET_WITHIN_MS = 15_000;

/** Everything the database holds of the run, once nobody writes to it any more. Throws when it cannot be whole. */
export async function readStored(url: string): Promise<Stored> {
  const client = new pg.Client(url);
  // A 64-bit integer arrives as text; one that a number cannot hold must not pass as another one.
  client.setTypeParser(pg.types.builtins.INT8, toWhole);
  client.on("error", () => {});
  await client.connect();
  try {
    await untilQuiet(client);
    await client.query("begin isolation level repeatable read read only");
    const read = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
      (await client.query<Row>(text)).rows;
    const stored: Stored = {
      events: await read(TABLES.events),
      keys: await read(TABLES.keys),
      customers: await read(TABLES.customers),
      wallets: await read(TABLES.wallets),
      grants: await read(TABLES.grants),
      ledger: await read(TABLES.ledger),
      denials: await read(TABLES.denials),
      assignments: await read(TABLES.assignments),
      pools: await read(TABLES.pools),
      features: await read(TABLES.features),
      plans: await read(TABLES.plans),
      planVersions: await read(TABLES.planVersions),
    };
    const [counts] = await read<Record<string, number>>(COUNTS);
    await client.query("commit");
    for (const [table, rows] of Object.entries(stored)) {
      if (rows.length !== counts?.[table])
        throw new Error(`${table} holds ${counts?.[table]} rows, and ${rows.length} were read`);
    }
    if (counts?.["environments"] !== 1) throw new Error("the rows are not all of one environment");
    return stored;
  } finally {
    await client.end();
  }
}

function toWhole(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${text} is beyond what a number holds`);
  return value;
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
