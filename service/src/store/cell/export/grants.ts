import { readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerId, type EnvironmentId } from "../../../words/brand.ts";
import { GRANT_COLUMNS, type GrantRecord, readGrantRecord } from "../grant-list.ts";

export type GrantPlace = { readonly customerNumber: number; readonly number: number };

export type ExportedGrant = GrantRecord &
  GrantPlace & {
    /** Null: erased since. */
    readonly customerId: CustomerId | null;
  };

const LIST = statement(
  "export.list_grants",
  `
  select${GRANT_COLUMNS},
    g.customer_number,
    c.customer_id
  from cell.grants as g
  left join cell.customers as c
    on c.environment_id = g.environment_id
    and c.number = g.customer_number
    and c.erased_at is null
  where g.environment_id = $1
    and (g.customer_number, g.number) > ($2, $3)
  order by g.customer_number, g.number
  limit $4`,
);

/** By customer, then by their number, those after this place: of all times, as no index tells them apart. */
export async function listExportedGrants(
  tx: Tx,
  environmentId: EnvironmentId,
  { after, limit }: { readonly after: GrantPlace; readonly limit: number },
): Promise<ExportedGrant[]> {
  const { rows } = await tx.run(LIST, [environmentId, after.customerNumber, after.number, limit]);
  return rows.map((row) => ({
    ...readGrantRecord(row),
    customerNumber: readInteger(row[13]),
    customerId: readNullable(row[14], (id) => brandAs<CustomerId>(readText(id))),
  }));
}
