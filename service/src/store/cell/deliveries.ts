import { bigints, integers, smallints, texts, timestamps } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import {
  derive,
  describeRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { NOTICE, NOTICE_ROWS } from "./notices.ts";

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const stateOf = (name: string): DeliveryState => {
  const state = DELIVERY_STATES.find((known) => known === name);
  assert(state !== undefined, "the state of a delivery is known");
  return state;
};

const DELIVERY = describeRow({
  state: derive(text("d.state"), stateOf),
  attempts: integer("d.attempts"),
  dueAt: instant("d.due_at"),
  retriedSince: instant("d.retried_since"),
  attemptedAt: orNull(instant("d.attempted_at")),
  /** The HTTP status of the last answer. */
  status: orNull(integer("d.status")),
  /** The beginning of the last answer, or why there was none. */
  answer: orNull(text("d.answer")),
  notice: NOTICE,
});

export type Delivery = RowOf<typeof DELIVERY>;

/** A delivery that has failed this often no longer delays the customer's later notices. */
const ATTEMPTS_IN_ORDER = 5;

/** Due, and not behind an earlier one for the same customer, so each customer has at most one. */
const IS_NEXT = `d.state = 'pending'
    and d.due_at <= statement_timestamp()
    and not exists (
      select
      from cell.deliveries as e
      where e.webhook_id = d.webhook_id
        and e.customer_number = d.customer_number
        and e.customer_number <> 0
        and e.state = 'pending'
        and e.notice < d.notice
        and e.attempts < ${ATTEMPTS_IN_ORDER}
    )`;

const LIST_DUE = statement(
  "deliveries.list_due",
  `
  select ${DELIVERY.list}
  from cell.deliveries as d
  join ${NOTICE_ROWS} on n.number = d.notice
  where d.webhook_id = $1
    and ${IS_NEXT}
  order by d.due_at, d.notice
  limit $2`,
);

/** The deliveries that can be attempted now, in order. */
export function listDueDeliveries(tx: Tx, webhook: number, limit: number): Promise<Delivery[]> {
  return listRows(tx, LIST_DUE, [webhook, limit], DELIVERY);
}

/** The result of an attempt. `delivery` is the delivery as it was before. */
export type Attempt = Pick<Delivery, "state" | "dueAt" | "status" | "answer"> & {
  readonly delivery: Delivery;
};

// A late result does not replace the result of a later attempt, or end a retry that was asked for in the meantime.
const RECORD = statement(
  "deliveries.record",
  `
  update cell.deliveries as d
  set
    state = r.state,
    attempts = d.attempts + 1,
    due_at = r.due_at,
    attempted_at = clock_timestamp(),
    status = r.status,
    answer = r.answer
  from unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::smallint[], $6::text[], $7::integer[], $8::bigint[])
    as r (notice, state, due_at, status, answer, attempts, retried_since)
  where d.webhook_id = $1
    and d.notice = r.notice
    and d.state = 'pending'
    and (extract(epoch from d.retried_since) * 1000)::bigint = r.retried_since
    and (d.attempts = r.attempts or r.state = 'delivered')`,
);

export function recordAttempts(tx: Tx, webhook: number, attempts: readonly Attempt[]): Promise<Rows> {
  // In the same order as a replay, so that the two cannot deadlock.
  const sorted = attempts.toSorted((a, b) => a.delivery.notice.number - b.delivery.notice.number);
  return tx.run(RECORD, [
    webhook,
    bigints(sorted.map(({ delivery }) => delivery.notice.number)),
    texts(sorted.map(({ state }) => state)),
    timestamps(sorted.map(({ dueAt }) => dueAt)),
    smallints(sorted.map(({ status }) => status)),
    texts(sorted.map(({ answer }) => answer)),
    integers(sorted.map(({ delivery }) => delivery.attempts)),
    bigints(sorted.map(({ delivery }) => delivery.retriedSince)),
  ]);
}

const LIST = statement(
  "deliveries.list",
  `
  select ${DELIVERY.list}
  from cell.deliveries as d
  join ${NOTICE_ROWS} on n.number = d.notice
  where d.webhook_id = $1
    and d.notice < $2
    and d.notice >= $3
    and ($4::text is null or d.state = $4)
  order by d.notice desc
  limit $5`,
);

const FIND_SCAN_END = statement(
  "deliveries.find_scan_end",
  `
  select d.notice
  from cell.deliveries as d
  where d.webhook_id = $1
    and d.notice < $2
  order by d.notice desc
  limit 1
  offset $3`,
);

/** Maximum number of rows scanned for one page of a state, because no index has all states. */
const SCANNED_MAX = 5_000;

export type DeliveryPage = {
  readonly webhook: number;
  readonly state: DeliveryState | null;
  readonly before: number;
  readonly limit: number;
};

export type ScannedDeliveries = {
  readonly deliveries: readonly Delivery[];
  /** The notice after which to resume the scan. Null if the scan reached the end. */
  readonly end: number | null;
};

/** Newest first. */
export async function listDeliveries(
  tx: Tx,
  { webhook, state, before, limit }: DeliveryPage,
): Promise<ScannedDeliveries> {
  const end = state === null ? null : await findScanEnd(tx, webhook, before);
  return { deliveries: await listRows(tx, LIST, [webhook, before, end ?? 0, state, limit], DELIVERY), end };
}

async function findScanEnd(tx: Tx, webhook: number, before: number): Promise<number | null> {
  const { rows } = await tx.run(FIND_SCAN_END, [webhook, before, SCANNED_MAX - 1]);
  return rows[0] === undefined ? null : readInteger(rows[0][0]);
}

const COUNT = statement(
  "deliveries.count",
  `
  select
    count(*),
    coalesce(extract(epoch from clock_timestamp() - min(p.due_at)), 0)::bigint
  from cell.webhooks as w
  cross join lateral (
    select d.due_at
    from cell.deliveries as d
    where d.webhook_id = w.id
    and ${IS_NEXT}
    order by d.due_at, d.notice
    limit 10000
  ) as p
  where w.disabled_at is null
    and w.deleted_at is null
    and w.failing_since is null`,
);

/** Due deliveries of webhooks that do not fail, at most 10,000 of each, and how many seconds the oldest is late. */
export type Backlog = { readonly deliveries: number; readonly lateSeconds: number };

export async function countDue(tx: Tx): Promise<Backlog> {
  const { rows } = await tx.run(COUNT);
  return { deliveries: readInteger(rows[0]?.[0]), lateSeconds: readInteger(rows[0]?.[1]) };
}
