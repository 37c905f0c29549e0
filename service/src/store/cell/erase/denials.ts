import { readBoolean, readInstant, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { WalletName } from "../wallets.ts";
import type { ErasedPage } from "./ledger.ts";

const LIST = statement(
  "erase.list_denials",
  `
  select
    (extract(epoch from d.recorded_at) * 1000)::bigint,
    encode(uuid_send(d.id), 'hex'),
    encode(uuid_send(d.key_hash), 'hex'),
    d.metadata is not null
  from cell.denials as d
  where d.customer_number = $1
    and d.recorded_at >= $2::timestamptz
    and (d.recorded_at, d.id) > ($2::timestamptz, $3::uuid)
  order by d.recorded_at, d.id
  limit $4`,
);

const ERASE = statement(
  "erase.denials",
  `
  update cell.denials
  set metadata = null
  where customer_number = $1
    and recorded_at >= $2::timestamptz
    and recorded_at <= $3::timestamptz
    and metadata is not null`,
);

/** A row's place in time. */
export type Moment = { readonly recordedAt: Instant; readonly id: string };

/** Before all that was recorded at or after this. */
export function momentBefore(recordedAt: Instant): Moment {
  return { recordedAt, id: "0".repeat(32) };
}

export async function eraseDenialsPage(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: Moment; readonly rowsMax: number },
): Promise<ErasedPage<Moment>> {
  const since = formatTimestamp(after.recordedAt);
  const { rows } = await tx.run(LIST, [customerNumber, since, after.id, rowsMax]);
  const last = rows.at(-1);
  if (last === undefined) return { keyHashes: [], erased: 0, last: null };
  const until = { recordedAt: readInstant(last[0]), id: readText(last[1]) };
  const isNeeded = rows.some((row) => readBoolean(row[3]));
  const range = [customerNumber, since, formatTimestamp(until.recordedAt)];
  const { rowCount } = isNeeded ? await tx.run(ERASE, range) : { rowCount: 0 };
  return { keyHashes: rows.map((row) => readText(row[2])), erased: rowCount, last: until };
}
