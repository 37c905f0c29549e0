import { readInteger } from "../../postgres/column.ts";
import { describeRow, findRow, instant, orNull, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

/** An account at a single sign-on provider. The provider never changes or reuses `subject`. */
export type Identity = { readonly issuer: string; readonly subject: string };

const FIND_MEMBER = statement(
  "identities.find_member",
  `
  select i.member_id
  from control.identities as i
  join control.members as m on m.id = i.member_id
  where i.issuer = $1
    and i.subject = $2
    and m.removed_at is null`,
);

/** The ID of the member who connected the account. Null if nobody did, or if the member was removed. */
export async function findMemberOfIdentity(tx: Tx, { issuer, subject }: Identity): Promise<number | null> {
  const { rows } = await tx.run(FIND_MEMBER, [issuer, subject]);
  const [row] = rows;
  return row === undefined ? null : readInteger(row[0]);
}

const CONNECTED = describeRow({
  issuer: text("i.issuer"),
  connectedAt: instant("i.connected_at"),
  lastUsedAt: orNull(instant("i.last_used_at")),
});

export type ConnectedIdentity = RowOf<typeof CONNECTED>;

const FIND = statement(
  "identities.find",
  `
  select ${CONNECTED.list}
  from control.identities as i
  where i.member_id = $1
    and i.issuer = $2`,
);

/** The account at this provider that the member has connected. */
export function findIdentityOf(
  tx: Tx,
  { memberId, issuer }: { memberId: number; issuer: string },
): Promise<ConnectedIdentity | null> {
  return findRow(tx, FIND, [memberId, issuer], CONNECTED);
}

const INSERT = statement(
  "identities.insert",
  `
  insert into control.identities as i (issuer, subject, member_id)
  values ($1, $2, $3)
  on conflict (issuer, subject) do update
  set member_id = excluded.member_id, connected_at = excluded.connected_at, last_used_at = null
  where (select m.removed_at from control.members as m where m.id = i.member_id) is not null`,
);

/** Connects an account to a member. False if another member has connected it. The account of a removed member can be connected again. */
export async function insertIdentity(
  tx: Tx,
  { issuer, subject, memberId }: Identity & { memberId: number },
): Promise<boolean> {
  const { rowCount } = await tx.run(INSERT, [issuer, subject, memberId]);
  return rowCount === 1;
}

const TOUCH = statement(
  "identities.touch",
  "update control.identities set last_used_at = clock_timestamp() where issuer = $1 and subject = $2",
);

export async function touchIdentity(tx: Tx, { issuer, subject }: Identity): Promise<void> {
  await tx.run(TOUCH, [issuer, subject]);
}

const DELETE = statement(
  "identities.delete_of_member",
  "delete from control.identities where member_id = $1",
);

/** Disconnects all accounts of the member. Returns how many there were. */
export async function deleteIdentitiesOf(tx: Tx, memberId: number): Promise<number> {
  const { rowCount } = await tx.run(DELETE, [memberId]);
  return rowCount;
}
