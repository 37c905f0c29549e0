import type { ClientBase, QueryResult } from "pg";
import { OutcomeUnknown } from "./outcome-unknown.ts";
import { decodeSqlError } from "./sql-error.ts";

/**
 * Commits, and returns only when the transaction is certainly durable.
 *
 * Two traps lie here. After a failed statement `commit` answers with the tag ROLLBACK and no error. And a wait
 * for a synchronous standby that is cancelled "succeeds" with a WARNING, though a failover may lose the data.
 */
export async function commit(client: ClientBase): Promise<void> {
  let warned = false;
  // By its code: the word WARNING is translated where the server speaks another language.
  const onNotice = (notice: { code?: string | undefined }): void => {
    if (notice.code !== "00000") warned = true;
  };
  client.on("notice", onNotice);
  let result: QueryResult;
  try {
    result = await client.query("commit");
  } catch (error) {
    if (decodeSqlError(error).kind === "lost")
      throw new OutcomeUnknown("connection lost in commit", { cause: error });
    throw error;
  } finally {
    client.off("notice", onNotice);
  }
  if (result.command !== "COMMIT") throw new RolledBack(`commit answered ${result.command}`);
  if (warned) throw new OutcomeUnknown("committed, but perhaps not on the standby");
}

/** The transaction is certainly not in force: an earlier statement of it failed. */
export class RolledBack extends Error {
  override readonly name = "RolledBack";
}
