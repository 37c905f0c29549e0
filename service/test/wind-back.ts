import type { TestDatabase } from "./harness.ts";

export const DAY_MS = 24 * 3_600_000;

/** Moves all times in wallets and overrides into the past by this much. */
export async function windBack(database: TestDatabase, ms: number): Promise<void> {
  const wallets = await database.query("select environment_id, customer_number, state from cell.wallets");
  for (const { environment_id, customer_number, state } of wallets) {
    // Only times have 13 digits.
    const earlier = String(state).replaceAll(/\b\d{13}\b/g, (time) => String(Number(time) - ms));
    await database.query(
      `update cell.wallets
       set state = $3, decided_at = decided_at - make_interval(secs => $4)
       where environment_id = $1 and customer_number = $2`,
      [environment_id, customer_number, earlier, ms / 1000],
    );
  }
  await windBackOverrides(database, ms);
}

async function windBackOverrides(database: TestDatabase, ms: number): Promise<void> {
  const rows = await database.query(
    "select environment_id, customer_number, number, terms from cell.overrides",
  );
  if (rows.length === 0) return;
  // Disables the append-only trigger for this session. Needs a superuser.
  await database.query("set session_replication_role = replica");
  for (const { environment_id, customer_number, number, terms } of rows) {
    const earlier = String(terms).replaceAll(/\b\d{13}\b/g, (time) => String(Number(time) - ms));
    await database.query(
      `update cell.overrides
       set
         terms = $4,
         recorded_at = recorded_at - make_interval(secs => $5),
         effective_at = effective_at - make_interval(secs => $5),
         ends_at = ends_at - make_interval(secs => $5)
       where environment_id = $1 and customer_number = $2 and number = $3`,
      [environment_id, customer_number, number, earlier, ms / 1000],
    );
  }
  await database.query("set session_replication_role = origin");
}
