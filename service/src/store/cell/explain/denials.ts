import {
  derive,
  describeRow,
  findRow,
  id,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../../postgres/row.ts";
import { type Statement, statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureKey,
  type Instant,
} from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { Uuid } from "../../../primitives/uuid.ts";
import { DENIAL } from "../denials.ts";
import type { WalletName } from "../wallets.ts";

const RECORD = describeRow({
  ...DENIAL,
  customerNumber: id<CustomerNumber>("d.customer_number"),
  /** Of the wallet at the decision. */
  sequence: integer("d.sequence"),
  feature: derive(text("f.key"), (key) => brandAs<FeatureKey>(key)),
  /** JSON. */
  metadata: orNull(text("d.metadata::text")),
});

/** A denied consume, with the arithmetic of the moment. */
export type Denial = RowOf<typeof RECORD>;

function denialStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
    select ${RECORD.list}
    from cell.denials as d
    join cell.features as f on f.environment_id = d.environment_id and f.id = d.feature_id
    where d.environment_id = $1
      ${which}`,
  );
}

const FIND = denialStatement("explain.find_denial", "and d.recorded_at = $2 and d.id = $3");
const LIST = denialStatement(
  "explain.list_denials",
  `and d.customer_number = $2
      and d.recorded_at <= $3::timestamptz
      and (d.recorded_at < $3::timestamptz or d.id < $4::uuid)
    order by d.recorded_at desc, d.id desc
    limit $5`,
);

export type DenialName = { readonly recordedAt: Instant; readonly id: Uuid };

/** The id is a UUIDv7 of when it was recorded. */
export function nameDenial(denialId: Uuid): DenialName {
  return { id: denialId, recordedAt: brandAs<Instant>(denialId.readUIntBE(0, 6)) };
}

/** Null: there is no such denial in this environment. */
export function findDenial(tx: Tx, environmentId: EnvironmentId, name: DenialName): Promise<Denial | null> {
  const parameters = [environmentId, formatTimestamp(name.recordedAt), name.id.toString("hex")];
  return findRow(tx, FIND, parameters, RECORD);
}

/** Of one customer, the newest first: those before this one. */
export function listDenials(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit }: { readonly before: DenialName; readonly limit: number },
): Promise<Denial[]> {
  const place = [formatTimestamp(before.recordedAt), before.id.toString("hex")];
  return listRows(tx, LIST, [environmentId, customerNumber, ...place, limit], RECORD);
}
