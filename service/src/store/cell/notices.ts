import type { Notice } from "../../entitlement/entry.ts";
import { bigints, integers, texts, timestamps } from "../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  instant,
  integer,
  json,
  listRows,
  orNull,
  type RowOf,
  text,
  uuid,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import { nameHold } from "../../primitives/hold-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { nameTopUp } from "../../primitives/top-up-id.ts";
import type { WalletName } from "./wallets.ts";

// The outbox. Notices are written in the transaction of the change that they are about, with one delivery for each webhook that receives
// them. The customer's ID is added when a notice is sent, so that an erasure has nothing to remove from it.

/** A notice, and the last ledger entry of the wallet after the change. */
export type NoticeRow = WalletName & { readonly sequence: number; readonly notice: Notice };

/** Sent by the test of a webhook. Not about a customer. */
export const TEST_TYPE = "webhook.test";

const INSERT = statement(
  "notices.insert",
  `
  with added as (
    insert into cell.notices (environment_id, customer_number, type, sequence, details, effective_at, recorded_at)
    select r.environment_id, r.customer_number, r.type, r.sequence, r.details, r.effective_at, $1::timestamptz
    from unnest($2::integer[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::timestamptz[])
      with ordinality as r (environment_id, customer_number, type, sequence, details, effective_at, position)
    where not exists (
      select
      from cell.customers as c
      where c.environment_id = r.environment_id
        and c.number = r.customer_number
        and c.erased_at is not null
    )
    order by r.position
    returning number, environment_id, customer_number, type
  )
  insert into cell.deliveries (webhook_id, notice, customer_number, due_at, retried_since)
  select w.id, a.number, a.customer_number, $1::timestamptz, $1::timestamptz
  from added as a
  join cell.webhooks as w
    on w.environment_id = a.environment_id
    and w.disabled_at is null
    and w.deleted_at is null
    and a.type = any (w.types)`,
);

/**
 * The wallets must be locked, so that the notices of a customer are numbered in the order of their changes. Nothing is told about an erased
 * customer.
 */
export function insertNotices(tx: Tx, rows: readonly NoticeRow[], recordedAt: Instant): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(recordedAt),
    integers(rows.map(({ environmentId }) => environmentId)),
    bigints(rows.map(({ customerNumber }) => customerNumber)),
    texts(rows.map(({ notice }) => notice.type)),
    bigints(rows.map(({ sequence }) => sequence)),
    texts(rows.map((row) => JSON.stringify(detailsOf(row)))),
    timestamps(rows.map(({ notice }) => notice.effectiveAt)),
  ]);
}

/** The fields of a notice as webhooks receive them. */
function detailsOf({ notice, customerNumber }: NoticeRow): object {
  if (notice.type === "topup.due") {
    const { pool, below, balance, credits, topUp, attempt } = notice;
    return { pool, below, balance, credits, topUpId: nameTopUp({ ...topUp, customerNumber }), attempt };
  }
  const { type: _, effectiveAt: __, ...details } = notice;
  const named = "hold" in details ? renameHold(details, customerNumber) : details;
  if (!("resetsAt" in named)) return named;
  return { ...named, resetsAt: named.resetsAt === null ? null : formatTimestamp(named.resetsAt) };
}

function renameHold<D extends { readonly hold: { readonly number: number; readonly openedAt: Instant } }>(
  { hold, ...details }: D,
  customerNumber: CustomerNumber,
) {
  return { holdId: nameHold({ ...hold, customerNumber }), ...details };
}

export const NOTICE = describeRow({
  number: integer("n.number"),
  id: uuid("n.id"),
  type: text("n.type"),
  /** Null if the customer was erased, and for a test. */
  customerId: orNull(derive(text("c.customer_id"), (name) => brandAs<CustomerId>(name))),
  customerName: orNull(text("c.name")),
  sequence: integer("n.sequence"),
  details: json("n.details"),
  effectiveAt: instant("n.effective_at"),
  recordedAt: instant("n.recorded_at"),
});

export type StoredNotice = RowOf<typeof NOTICE>;

export const NOTICE_ROWS = `
  cell.notices as n
  left join cell.customers as c
    on c.environment_id = n.environment_id
    and c.number = n.customer_number
    and c.erased_at is null`;

const LIST = statement(
  "notices.list",
  `
  select ${NOTICE.list}
  from ${NOTICE_ROWS}
  where n.environment_id = $1
    and n.number < $2
    and n.type <> '${TEST_TYPE}'
  order by n.number desc
  limit $3`,
);

const LIST_OF_CUSTOMER = statement(
  "notices.list_of_customer",
  `
  select ${NOTICE.list}
  from ${NOTICE_ROWS}
  where n.environment_id = $1
    and n.number < $2
    and n.customer_number = $4
  order by n.number desc
  limit $3`,
);

export type NoticePage = {
  readonly environmentId: EnvironmentId;
  /** Null for all customers. */
  readonly customerNumber: CustomerNumber | null;
  readonly before: number;
  readonly limit: number;
};

/** Newest first. */
export function listNotices(
  tx: Tx,
  { environmentId, customerNumber, before, limit }: NoticePage,
): Promise<StoredNotice[]> {
  const parameters = [environmentId, before, limit];
  return customerNumber === null
    ? listRows(tx, LIST, parameters, NOTICE)
    : listRows(tx, LIST_OF_CUSTOMER, [...parameters, customerNumber], NOTICE);
}

const ERASE = statement(
  "notices.erase",
  `
  delete from cell.notices
  where environment_id = $1
    and customer_number = $2`,
);

/** Deletes the customer's notices and their deliveries, whose answers may contain the customer's ID. */
export function eraseNotices(tx: Tx, { environmentId, customerNumber }: WalletName): Promise<Rows> {
  return tx.run(ERASE, [environmentId, customerNumber]);
}

const FORGET = statement(
  "notices.forget",
  `
  delete from cell.notices
  where number in (
    select number
    from cell.notices
    where recorded_at < $2::timestamptz
    order by recorded_at
    limit $1
  )`,
);

/** Deletes the oldest notices from before this time, with their deliveries. Returns how many. */
export async function forgetNotices(tx: Tx, before: Instant, limit: number): Promise<number> {
  const { rowCount } = await tx.run(FORGET, [limit, formatTimestamp(before)]);
  return rowCount;
}
