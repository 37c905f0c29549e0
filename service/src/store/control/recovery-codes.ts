import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

const DELETE_OF = statement(
  "recovery_codes.delete_of",
  "delete from control.recovery_codes where member_id = $1",
);

export async function deleteRecoveryCodesOf(tx: Tx, memberId: number): Promise<void> {
  await tx.run(DELETE_OF, [memberId]);
}

const INSERT = statement(
  "recovery_codes.insert",
  `
  insert into control.recovery_codes (member_id, code_hash)
  select $1, decode(c.hash, 'hex')
  from unnest($2::text[]) as c (hash)`,
);

export async function insertRecoveryCodes(
  tx: Tx,
  { memberId, hashes }: { memberId: number; hashes: readonly Buffer[] },
): Promise<void> {
  await tx.run(INSERT, [memberId, hashes.map((hash) => hash.toString("hex"))]);
}

const USE = statement(
  "recovery_codes.use",
  `
  update control.recovery_codes
  set used_at = clock_timestamp()
  where member_id = $1
    and code_hash = $2
    and used_at is null`,
);

/** Marks a code as used. False if the member has no such code, or it was used before. */
export async function useRecoveryCode(tx: Tx, code: { memberId: number; hash: Buffer }): Promise<boolean> {
  const { rowCount } = await tx.run(USE, [code.memberId, code.hash]);
  return rowCount === 1;
}

const COUNT = statement(
  "recovery_codes.count_unused",
  `
  select count(*)
  from control.recovery_codes
  where member_id = $1
    and used_at is null`,
);

export async function countUnusedRecoveryCodes(tx: Tx, memberId: number): Promise<number> {
  const { rows } = await tx.run(COUNT, [memberId]);
  return readInteger(rows[0]?.[0]);
}
