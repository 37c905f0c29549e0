import { bigints } from "../../postgres/binary-array.ts";
import { readBoolean, readInteger } from "../../postgres/column.ts";
import { boolean, describeRow, findRow, id, integer, orNull, type RowOf, text } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";

// Which process delivers to a webhook, and when the webhook started failing.

const TARGET = describeRow({
  id: integer("w.id"),
  environmentId: id<EnvironmentId>("w.environment_id"),
  url: text("w.url"),
  isFailing: boolean("w.failing_since is not null"),
  secret: text("w.secret"),
  /** Null after the overlap of a rotation. */
  previousSecret: orNull(
    text("case when w.previous_secret_until > clock_timestamp() then w.previous_secret end"),
  ),
});

/** Where to deliver, and the secrets that sign. */
export type Target = RowOf<typeof TARGET>;

// `clock_timestamp()` could not be a condition of the index.
const DUE = `exists (
        select
        from cell.deliveries as d
        where d.webhook_id = c.id
          and d.state = 'pending'
          and d.due_at <= statement_timestamp()
      )`;

const FIND_DUE = statement(
  "webhooks.find_due",
  `
  select c.id
  from cell.webhooks as c
  where c.disabled_at is null
    and c.deleted_at is null
    and ${DUE}
  limit 1`,
);

/** Whether any webhook has due deliveries. Cheaper than a claim. */
export async function hasDueWebhooks(tx: Tx): Promise<boolean> {
  const { rowCount } = await tx.run(FIND_DUE);
  return rowCount > 0;
}

// A claim that ends later than any new claim dates from before a failover to a server whose clock is behind.
const CLAIM = statement(
  "webhooks.claim",
  `
  update cell.webhooks as w
  set
    leased_by = $1::uuid,
    leased_until = statement_timestamp() + interval '30 seconds'
  where w.id in (
    select c.id
    from cell.webhooks as c
    where c.disabled_at is null
      and c.deleted_at is null
      and c.id <> all ($2::bigint[])
      and (
        c.leased_by = $1::uuid
        or c.leased_until is null
        or c.leased_until < statement_timestamp()
        or c.leased_until > statement_timestamp() + interval '31 seconds'
      )
      and ${DUE}
    order by c.leased_until nulls first, c.id
    limit $3
    for update skip locked
  )
  returning w.id`,
);

type Claim = {
  readonly processId: string;
  /** Webhooks that this process does not deliver now. */
  readonly except: readonly number[];
  readonly limit: number;
};

/** Webhooks with due deliveries, which this process alone delivers for the next 30 seconds. */
export async function claimWebhooks(tx: Tx, { processId, except, limit }: Claim): Promise<number[]> {
  const { rows } = await tx.run(CLAIM, [processId, bigints(except), limit]);
  return rows.map(([id]) => readInteger(id));
}

const RENEW = statement(
  "webhooks.renew",
  `
  update cell.webhooks as w
  set leased_until = statement_timestamp() + interval '30 seconds'
  where w.id = $1
    and w.leased_by = $2::uuid
    and w.disabled_at is null
    and w.deleted_at is null
  returning ${TARGET.list}`,
);

/** Renews the claim. Null if another process has taken over, or if the webhook was disabled or deleted. */
export function renewClaim(tx: Tx, id: number, processId: string): Promise<Target | null> {
  return findRow(tx, RENEW, [id, processId], TARGET);
}

const RELEASE = statement(
  "webhooks.release",
  `
  update cell.webhooks
  set leased_until = null
  where leased_by = $1::uuid`,
);

/** Lets other processes take over immediately. */
export function releaseWebhooks(tx: Tx, processId: string): Promise<Rows> {
  return tx.run(RELEASE, [processId]);
}

const NOTE_SUCCESS = statement(
  "webhooks.note_success",
  `
  update cell.webhooks
  set failing_since = null
  where id = $1
    and failing_since is not null`,
);

export function noteSuccess(tx: Tx, id: number): Promise<Rows> {
  return tx.run(NOTE_SUCCESS, [id]);
}

// A webhook that receives a notice only now and then must not be disabled because of an old failure.
const NOTE_FAILURE = statement(
  "webhooks.note_failure",
  `
  update cell.webhooks as w
  set
    failing_since = case
      when w.failed_at > clock_timestamp() - interval '1 day' then coalesce(w.failing_since, clock_timestamp())
      else clock_timestamp()
    end,
    failed_at = clock_timestamp()
  where w.id = $1
  returning w.failing_since < clock_timestamp() - interval '5 days'`,
);

/** Records when a webhook started failing. Returns whether it has failed for five days. */
export async function noteFailure(tx: Tx, id: number): Promise<boolean> {
  const { rows } = await tx.run(NOTE_FAILURE, [id]);
  return rows[0] !== undefined && readBoolean(rows[0][0]);
}

const DISABLE = statement(
  "webhooks.disable",
  `
  update cell.webhooks
  set
    disabled_at = date_trunc('milliseconds', clock_timestamp()),
    disabled_by_failures = true
  where id = $1
    and disabled_at is null
    and deleted_at is null
    and failing_since < clock_timestamp() - interval '5 days'`,
);

/** Disables a webhook that has failed for five days. The catalog must be locked. Returns whether this call disabled it. */
export async function disableFailing(tx: Tx, id: number): Promise<boolean> {
  const { rowCount } = await tx.run(DISABLE, [id]);
  return rowCount > 0;
}
