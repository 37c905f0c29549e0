import { isInvalidParameter } from "../../postgres/sql-error.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

const READ = statement("server_zone.read", "select clock_timestamp() at time zone $1::text");

/** Whether the server knows a time zone of this name: its list may be older than ours. Not in a transaction, which it would end. */
export async function isServerZone(tx: Tx, name: string): Promise<boolean> {
  try {
    await tx.run(READ, [name]);
    return true;
  } catch (error) {
    if (isInvalidParameter(error)) return false;
    throw error;
  }
}
