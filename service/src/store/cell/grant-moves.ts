import { describeRow, findRow, id, integer, listRows, type RowOf } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

/** Columns of `cell.grant_moves as m`. */
const MOVE = describeRow({
  fromCustomer: id<CustomerNumber>("m.from_customer"),
  fromGrant: integer("m.from_grant"),
  toCustomer: id<CustomerNumber>("m.to_customer"),
  toGrant: integer("m.to_grant"),
  spent: integer("m.spent"),
  held: integer("m.held"),
});

/** A move of credits from one customer's grant to a new grant for another customer. */
export type GrantMove = RowOf<typeof MOVE>;

const INSERT = statement(
  "grant_moves.insert",
  `
  insert into cell.grant_moves (
    environment_id, from_customer, from_grant, to_customer, to_grant, spent, held, recorded_at
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz)`,
);

/** Records a move. The primary key rejects a second move from the same grant. */
export function insertGrantMove(
  tx: Tx,
  { environmentId }: Pick<WalletName, "environmentId">,
  move: GrantMove,
  recordedAt: Instant,
): Promise<Rows> {
  return tx.run(INSERT, [
    environmentId,
    move.fromCustomer,
    move.fromGrant,
    move.toCustomer,
    move.toGrant,
    move.spent,
    move.held,
    formatTimestamp(recordedAt),
  ]);
}

const FIND = statement(
  "grant_moves.find",
  `
  select ${MOVE.list}
  from cell.grant_moves as m
  where m.environment_id = $1
    and m.from_customer = $2
    and m.from_grant = $3`,
);

/** Finds the move that took the credits out of this grant. */
export function findGrantMove(tx: Tx, from: WalletName, grant: number): Promise<GrantMove | null> {
  return findRow(tx, FIND, [from.environmentId, from.customerNumber, grant], MOVE);
}

const LIST = statement(
  "grant_moves.list",
  `
  select ${MOVE.list}
  from cell.grant_moves as m
  where m.environment_id = $1
    and m.from_customer = $2
    and m.from_grant = any($3::integer[])
  union all
  select ${MOVE.list}
  from cell.grant_moves as m
  where m.environment_id = $1
    and m.to_customer = $2
    and m.to_grant = any($3::integer[])`,
);

/** Lists the moves from or to these grants of the customer. */
export function listGrantMoves(tx: Tx, name: WalletName, grants: readonly number[]): Promise<GrantMove[]> {
  return listRows(tx, LIST, [name.environmentId, name.customerNumber, grants], MOVE);
}
