import { derive, describeRow, integer, listRows, orNull, type RowOf, text } from "../../../postgres/row.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerId, type EnvironmentId } from "../../../words/brand.ts";
import { GRANT_RECORD } from "../grant-list.ts";

export type GrantPlace = { readonly customerNumber: number; readonly number: number };

const EXPORTED = describeRow({
  grant: GRANT_RECORD,
  customerNumber: integer("g.customer_number"),
  /** Null: erased since. */
  customerId: orNull(derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value))),
});

type Exported = RowOf<typeof EXPORTED>;

export type ExportedGrant = Exported["grant"] & Omit<Exported, "grant">;

const LIST = statement(
  "export.list_grants",
  `
  select ${EXPORTED.list}
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
  const parameters = [environmentId, after.customerNumber, after.number, limit];
  const rows = await listRows(tx, LIST, parameters, EXPORTED);
  return rows.map(({ grant, ...owner }) => ({ ...grant, ...owner }));
}
