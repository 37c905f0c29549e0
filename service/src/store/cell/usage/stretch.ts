import { readInteger, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { SLICES_MAX } from "./rows.ts";

/** Some transactions in a row, from one number up to but without another. */
export type Stretch = {
  readonly from: number;
  readonly to: number;
  /** 1, but for one transaction that is too large for one go: then its customers are taken in so many turns. */
  readonly slices: number;
};

const TABLES = ["events", "ledger", "denials"] as const;

const FIND_CUT = statement(
  "usage_stretch.find_cut",
  `
  select min(c.transaction_number)
  from (
    ${TABLES.map(
      (table) => `(
      select transaction_number
      from cell.${table}
      where transaction_number >= $1
        and transaction_number < $2
      order by transaction_number
      offset $3
      limit 1
    )`,
    ).join(" union all ")}
  ) as c`,
);

const COUNT = statement(
  "usage_stretch.count",
  `
  select ${TABLES.map((table) => `(select count(*) from cell.${table} where transaction_number = $1)`).join(
    " + ",
  )}`,
);

/** The next stretch of those below `limit`: as much as `rowsMax` rows of each table, or one transaction. */
export async function findStretch(
  tx: Tx,
  { from, limit, rowsMax }: { readonly from: number; readonly limit: number; readonly rowsMax: number },
): Promise<Stretch> {
  // Planned anew each time, for the rows there are.
  const { rows } = await tx.run({ ...FIND_CUT, name: "" }, [from, limit, rowsMax]);
  const cut = readNullable(rows[0]?.[0] ?? null, readInteger);
  if (cut === null) return { from, to: limit, slices: 1 };
  if (cut > from) return { from, to: cut, slices: 1 };
  const counted = await tx.run({ ...COUNT, name: "" }, [from]);
  const slices = Math.ceil(readInteger(counted.rows[0]?.[0]) / rowsMax);
  return { from, to: from + 1, slices: Math.min(slices, SLICES_MAX) };
}
