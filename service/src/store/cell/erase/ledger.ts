import type { ShortHash } from "../../../entitlement/fingerprint.ts";
import { readBoolean, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { WalletName } from "../wallets.ts";

/** What a page of an erased customer's rows was: the keys it names, how many rows had metadata, and where to go on. */
export type ErasedPage<Cursor> = {
  readonly keyHashes: readonly ShortHash[];
  readonly erased: number;
  /** Null: there is nothing after it. */
  readonly last: Cursor | null;
};

const LIST = statement(
  "erase.list_ledger",
  `
  select e.sequence, encode(uuid_send(e.key_hash), 'hex'), e.metadata is not null
  from cell.ledger as e
  where e.customer_number = $1
    and e.sequence > $2
  order by e.sequence
  limit $3`,
);

const ERASE = statement(
  "erase.ledger",
  `
  update cell.ledger
  set metadata = null
  where customer_number = $1
    and sequence > $2
    and sequence <= $3
    and metadata is not null`,
);

/** Takes the metadata of the entries after `after`, a page of them: the one change that the table allows. */
export async function eraseLedgerPage(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: number; readonly rowsMax: number },
): Promise<ErasedPage<number>> {
  const { rows } = await tx.run(LIST, [customerNumber, after, rowsMax]);
  const last = rows.at(-1);
  if (last === undefined) return { keyHashes: [], erased: 0, last: null };
  const until = readInteger(last[0]);
  const isNeeded = rows.some(([, , hasMetadata]) => readBoolean(hasMetadata));
  const { rowCount } = isNeeded ? await tx.run(ERASE, [customerNumber, after, until]) : { rowCount: 0 };
  const keyHashes = rows.flatMap(([, keyHash]) => readNullable(keyHash, readText) ?? []);
  return { keyHashes, erased: rowCount, last: until };
}
