import type { ClientBase, QueryResult } from "pg";
import { decodeSqlError } from "./sql-error.ts";

/**
 * Commits, and returns only if the transaction is certainly durable.
 *
 * Two failures look like success. After a failed statement, `commit` returns the tag ROLLBACK without an error. After a canceled
 * wait for a synchronous standby, it returns COMMIT with a WARNING, although a failover may lose the data.
 */
export async function commit(client: ClientBase): Promise<void> {
  let warned = false;
  // Checks the code, because the severity is translated on servers with another language.
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
  if (result.command !== "COMMIT") throw new RolledBack(`commit returned ${result.command}`);
  if (warned) throw new OutcomeUnknown("committed, but perhaps not on the standby");
}

/** The transaction was certainly rolled back, because one of its statements failed. */
export class RolledBack extends Error {
  override readonly name = "RolledBack";
}

/** A commit was sent, and its outcome is unknown. It must not be treated as success or failure. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}
