import { describeRow, id, json, listRows, orNull, type RowOf } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { FeatureId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { DENIAL } from "./denials.ts";
import type { WalletName } from "./wallets.ts";

const RECORD = describeRow({
  ...DENIAL,
  feature: id<FeatureId>("d.feature_id"),
  metadata: orNull(json("d.metadata")),
});

/** A denial as people see one. */
export type DenialRecord = RowOf<typeof RECORD>;

const LIST = statement(
  "denials.list",
  `
  select ${RECORD.list}
  from cell.denials as d
  where d.environment_id = $1
    and d.customer_number = $2
    and d.recorded_at <= $3::timestamptz
    and d.recorded_at >= $6::timestamptz
    and (d.recorded_at, d.id) < ($3::timestamptz, $4::uuid)
  order by d.recorded_at desc, d.id desc
  limit $5`,
);

export type DenialPlace = { readonly recordedAt: Instant; readonly id: string };

/** The newest first, after the one at this place, back to `since`. */
export function listDenialRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: DenialPlace; readonly since: Instant; readonly limit: number },
): Promise<DenialRecord[]> {
  const { before } = page;
  const { environmentId, customerNumber } = name;
  const parameters = [
    environmentId,
    customerNumber,
    formatTimestamp(before.recordedAt),
    before.id,
    page.limit,
    formatTimestamp(page.since),
  ];
  return listRows(tx, LIST, parameters, RECORD);
}
