import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

const READ = statement(
  "data_format.read",
  `
  select i.data_format
  from cell.identity as i`,
);

/** The newest data format that may be written. It increases only when an administrator finishes an upgrade. */
export async function readDataFormat(tx: Tx): Promise<number> {
  const { rows } = await tx.run(READ);
  return readInteger(rows[0]?.[0]);
}
