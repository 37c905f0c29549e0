import { readBoolean } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";

const IS_OTHER = statement("usage_progress.is_other_server", "select cell.is_other_server()");

/** Numbers of another server would come a second time here, and rows under them would never be added up: migration 16. */
export async function refuseOtherServer(tx: Tx): Promise<void> {
  const { rows } = await tx.run(IS_OTHER);
  if (readBoolean(rows[0]?.[0]))
    throw new Error(
      "this is another database server than the one whose usage was recorded: run purser migrate, then " +
        "purser verify --usage, and repair the days it names",
    );
}
