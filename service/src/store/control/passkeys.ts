import {
  bytes,
  derive,
  describeRow,
  findRow,
  getRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
  textList,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { highestRole } from "../../primitives/role.ts";
import { projectRoles, role, workspaceRole } from "./member-roles.ts";
import { hasPasskey } from "./members.ts";

const PASSKEY = describeRow({
  id: integer("p.id"),
  name: text("p.name"),
  credentialId: bytes("p.credential_id"),
  publicKey: bytes("p.public_key"),
  /** How often the authenticator has signed. 0 if it does not count. */
  signatureCount: integer("p.signature_count"),
  transports: textList("p.transports"),
  createdAt: instant("p.created_at"),
  lastUsedAt: orNull(instant("p.last_used_at")),
});

export type Passkey = RowOf<typeof PASSKEY>;

/** The facts that decide whether a member needs a second factor. The row is of `control.members as m` and `control.workspaces as w`. */
export const FACTORS = describeRow({
  /** The highest role in the workspace or in any environment. */
  role: derive(
    describeRow({ role: workspaceRole("m.role"), projectRoles: projectRoles("m.id") }),
    highestRole,
  ),
  /** Members with this role or above need a second factor. Null if no role needs one. */
  requiredFrom: orNull(role("w.second_factor_from")),
  hasPasskey: hasPasskey("m"),
});

export type Factors = RowOf<typeof FACTORS>;

const GET_FACTORS = statement(
  "passkeys.get_factors",
  `
  select ${FACTORS.list}
  from control.members as m
  join control.workspaces as w on w.id = m.workspace_id
  where m.id = $1`,
);

export function getFactors(tx: Tx, memberId: number): Promise<Factors> {
  return getRow(tx, GET_FACTORS, [memberId], FACTORS);
}

const LIST = statement(
  "passkeys.list",
  `
  select ${PASSKEY.list}
  from control.passkeys as p
  where p.member_id = $1
  order by p.id`,
);

/** The member's passkeys, oldest first. */
export function listPasskeys(tx: Tx, memberId: number): Promise<Passkey[]> {
  return listRows(tx, LIST, [memberId], PASSKEY);
}

const LOCK = statement(
  "passkeys.lock",
  `
  select ${PASSKEY.list}
  from control.passkeys as p
  where p.member_id = $1
    and p.credential_id = $2
  for update`,
);

/** Finds one of the member's passkeys. Locks it, so that two signatures are compared with the count one after the other. */
export function lockPasskey(
  tx: Tx,
  passkey: { memberId: number; credentialId: Buffer },
): Promise<Passkey | null> {
  return findRow(tx, LOCK, [passkey.memberId, passkey.credentialId], PASSKEY);
}

const INSERT = statement(
  "passkeys.insert",
  `
  insert into control.passkeys as p (member_id, name, credential_id, public_key, signature_count, transports)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (credential_id) do nothing
  returning ${PASSKEY.list}`,
);

/** Null if the credential is already registered, for this or another member. */
export function insertPasskey(
  tx: Tx,
  memberId: number,
  passkey: Pick<Passkey, "name" | "credentialId" | "publicKey" | "signatureCount" | "transports">,
): Promise<Passkey | null> {
  const { name, credentialId, publicKey, signatureCount, transports } = passkey;
  return findRow(tx, INSERT, [memberId, name, credentialId, publicKey, signatureCount, transports], PASSKEY);
}

const RENAME = statement(
  "passkeys.rename",
  `
  update control.passkeys as p
  set name = $3
  where p.member_id = $1
    and p.id = $2
  returning ${PASSKEY.list}`,
);

export function renamePasskey(
  tx: Tx,
  passkey: { memberId: number; id: number; name: string },
): Promise<Passkey | null> {
  return findRow(tx, RENAME, [passkey.memberId, passkey.id, passkey.name], PASSKEY);
}

const RECORD_USE = statement(
  "passkeys.record_use",
  `
  update control.passkeys
  set signature_count = $2, last_used_at = clock_timestamp()
  where id = $1`,
);

export async function recordPasskeyUse(tx: Tx, use: { id: number; signatureCount: number }): Promise<void> {
  await tx.run(RECORD_USE, [use.id, use.signatureCount]);
}

const DELETE = statement("passkeys.delete", "delete from control.passkeys where member_id = $1 and id = $2");

export async function deletePasskey(tx: Tx, passkey: { memberId: number; id: number }): Promise<void> {
  await tx.run(DELETE, [passkey.memberId, passkey.id]);
}

const DELETE_OF = statement("passkeys.delete_of", "delete from control.passkeys where member_id = $1");

export async function deletePasskeysOf(tx: Tx, memberId: number): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OF, [memberId]);
  return rowCount;
}
