import type { TestDatabase } from "./harness.ts";

export const DAY_MS = 24 * 3_600_000;

/** Moves all times in wallets this far into the past. */
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
}
