import { describeRow, getRow, instant, integer, listRows, type RowOf, uuid } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { TEST_TYPE } from "./notices.ts";
import type { WebhookName } from "./webhooks.ts";

// Deliveries that an operator asks for.

const TEST_ID = describeRow({ id: uuid("a.id") });

const TEST = statement(
  "deliveries.test",
  `
  with added as (
    insert into cell.notices (environment_id, customer_number, type, sequence, details, effective_at, recorded_at)
    select $1, 0, '${TEST_TYPE}', 0, '{}', t.at, t.at
    from date_trunc('milliseconds', clock_timestamp()) as t (at)
    returning number, id, recorded_at
  ), delivery as (
    insert into cell.deliveries (webhook_id, notice, customer_number, due_at, retried_since)
    select $2, a.number, 0, a.recorded_at, a.recorded_at
    from added as a
  )
  select ${TEST_ID.list}
  from added as a`,
);

/** Adds a test notice for one webhook. Returns the notice's ID. */
export async function addTest(tx: Tx, { environmentId, id }: WebhookName): Promise<Uuid> {
  return (await getRow(tx, TEST, [environmentId, id], TEST_ID)).id;
}

const REPLAYED = describeRow({ recordedAt: instant("c.recorded_at"), number: integer("c.number") });

/** A notice that was delivered again, and the position after which the next replay continues. */
export type Replayed = RowOf<typeof REPLAYED>;

/** Delivers notices from `source` again. Locks deliveries in the order in which attempts are recorded. */
const replayStatement = (name: string, source: string) =>
  statement(
    name,
    `
  with chosen as (
    select n.number, n.customer_number, n.recorded_at
    from ${source}
      and (n.recorded_at, n.number) > ($2::timestamptz, $3)
      and n.recorded_at < $4::timestamptz
    order by n.recorded_at, n.number
    limit $5
  ), repeated as (
    insert into cell.deliveries (webhook_id, notice, customer_number, due_at, retried_since)
    select $1, c.number, c.customer_number, t.now, t.now
    from chosen as c
    cross join date_trunc('milliseconds', clock_timestamp()) as t (now)
    order by c.number
    on conflict on constraint deliveries_pkey do update
    set
      state = 'pending',
      attempts = 0,
      due_at = excluded.due_at,
      retried_since = excluded.retried_since
  )
  select ${REPLAYED.list}
  from chosen as c
  order by c.recorded_at, c.number`,
  );

// Includes notices from before the webhook was created.
const REPLAY = replayStatement(
  "deliveries.replay",
  `cell.webhooks as w
    join cell.notices as n
      on n.environment_id = w.environment_id
      and n.type = any (w.types)
    where w.id = $1`,
);

const REPLAY_UNDELIVERED = replayStatement(
  "deliveries.replay_undelivered",
  `cell.deliveries as d
    join cell.notices as n on n.number = d.notice
    where d.webhook_id = $1
      and d.state <> 'delivered'`,
);

export type Replay = {
  readonly webhook: number;
  /** Only notices after this position. For number 0, notices from this time on. */
  readonly after: Replayed;
  readonly to: Instant;
  /** Only notices that were sent to this webhook, and that it has not accepted. */
  readonly undeliveredOnly: boolean;
  readonly limit: number;
};

/** Delivers a range of notices again, in order. */
export function replayNotices(
  tx: Tx,
  { webhook, after, to, undeliveredOnly, limit }: Replay,
): Promise<Replayed[]> {
  const parameters = [webhook, formatTimestamp(after.recordedAt), after.number, formatTimestamp(to), limit];
  return listRows(tx, undeliveredOnly ? REPLAY_UNDELIVERED : REPLAY, parameters, REPLAYED);
}

const RETRY = statement(
  "deliveries.retry",
  `
  update cell.deliveries as d
  set
    state = 'pending',
    attempts = 0,
    due_at = date_trunc('milliseconds', clock_timestamp()),
    retried_since = date_trunc('milliseconds', clock_timestamp())
  from cell.notices as n
  where d.webhook_id = $1
    and n.number = d.notice
    and n.id = $2::uuid`,
);

/** Delivers one notice again. Returns whether the webhook has such a delivery. */
export async function retryDelivery(tx: Tx, webhook: number, notice: string): Promise<boolean> {
  const { rowCount } = await tx.run(RETRY, [webhook, notice]);
  return rowCount > 0;
}
