import { texts } from "../../postgres/binary-array.ts";
import { readInteger, readText } from "../../postgres/column.ts";
import {
  boolean,
  column,
  describeRow,
  findRow,
  getRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";

const textList = (sql: string) =>
  column((value): readonly string[] => JSON.parse(readText(value)), `array_to_json(${sql})::text`);

const WEBHOOK = describeRow({
  id: integer("w.id"),
  url: text("w.url"),
  description: orNull(text("w.description")),
  types: textList("w.types"),
  createdAt: instant("w.created_at"),
  disabledAt: orNull(instant("w.disabled_at")),
  disabledByFailures: boolean("w.disabled_by_failures"),
  failingSince: orNull(instant("w.failing_since")),
});

/** A webhook without its secrets. */
export type Webhook = RowOf<typeof WEBHOOK>;

const LIST = statement(
  "webhooks.list",
  `
  select ${WEBHOOK.list}
  from cell.webhooks as w
  where w.environment_id = $1
    and w.deleted_at is null
  order by w.id`,
);

export function listWebhooks(tx: Tx, environmentId: EnvironmentId): Promise<Webhook[]> {
  return listRows(tx, LIST, [environmentId], WEBHOOK);
}

/** One webhook of an environment. */
export type WebhookName = { readonly environmentId: EnvironmentId; readonly id: number };

const FIND_ROW = `
  select ${WEBHOOK.list}
  from cell.webhooks as w
  where w.environment_id = $1
    and w.id = $2
    and w.deleted_at is null`;

const FIND = statement("webhooks.find", FIND_ROW);

export function findWebhook(tx: Tx, { environmentId, id }: WebhookName): Promise<Webhook | null> {
  return findRow(tx, FIND, [environmentId, id], WEBHOOK);
}

const LOCK = statement("webhooks.lock", `${FIND_ROW}\n  for update`);

/** Like `findWebhook`, for a change. Waits for a delivery that disables the webhook. */
export function lockWebhook(tx: Tx, { environmentId, id }: WebhookName): Promise<Webhook | null> {
  return findRow(tx, LOCK, [environmentId, id], WEBHOOK);
}

export type WebhookSettings = Pick<Webhook, "url" | "description" | "types">;

const INSERT = statement(
  "webhooks.insert",
  `
  insert into cell.webhooks as w (environment_id, url, description, types, secret, created_at)
  values ($1, $2, $3, $4, $5, date_trunc('milliseconds', clock_timestamp()))
  returning ${WEBHOOK.list}`,
);

export function insertWebhook(
  tx: Tx,
  environmentId: EnvironmentId,
  { url, description, types, secret }: WebhookSettings & { readonly secret: string },
): Promise<Webhook> {
  return getRow(tx, INSERT, [environmentId, url, description, texts(types), secret], WEBHOOK);
}

const UPDATE = statement(
  "webhooks.update",
  `
  update cell.webhooks as w
  set
    url = $3,
    description = $4,
    types = $5,
    disabled_at = case when $6 then null else coalesce(w.disabled_at, date_trunc('milliseconds', clock_timestamp())) end,
    disabled_by_failures = w.disabled_by_failures and not $6,
    failing_since = case when $6 and w.disabled_at is not null then null else w.failing_since end
  where w.environment_id = $1
    and w.id = $2
    and w.deleted_at is null
  returning ${WEBHOOK.list}`,
);

/** Enabling a disabled webhook gives it a new period in which it may fail. */
export function updateWebhook(
  tx: Tx,
  { environmentId, id }: WebhookName,
  { url, description, types, isEnabled }: WebhookSettings & { readonly isEnabled: boolean },
): Promise<Webhook> {
  return getRow(tx, UPDATE, [environmentId, id, url, description, texts(types), isEnabled], WEBHOOK);
}

const ROTATE = statement(
  "webhooks.rotate",
  `
  update cell.webhooks
  set
    previous_secret = secret,
    previous_secret_until = clock_timestamp() + make_interval(secs => $4::double precision),
    secret = $3
  where environment_id = $1
    and id = $2
    and deleted_at is null`,
);

/** The replaced secret also signs for `overlapSeconds`. */
export function rotateSecret(
  tx: Tx,
  { environmentId, id }: WebhookName,
  { secret, overlapSeconds }: { readonly secret: string; readonly overlapSeconds: number },
): Promise<Rows> {
  return tx.run(ROTATE, [environmentId, id, secret, overlapSeconds]);
}

const DELETE = statement(
  "webhooks.delete",
  `
  update cell.webhooks
  set
    deleted_at = clock_timestamp(),
    secret = '',
    previous_secret = null
  where environment_id = $1
    and id = $2`,
);

export function deleteWebhook(tx: Tx, { environmentId, id }: WebhookName): Promise<Rows> {
  return tx.run(DELETE, [environmentId, id]);
}

const TARGET = describeRow({
  id: integer("w.id"),
  url: text("w.url"),
  secret: text("w.secret"),
  /** Null after the overlap of a rotation. */
  previousSecret: orNull(
    text("case when w.previous_secret_until > clock_timestamp() then w.previous_secret end"),
  ),
});

/** Where to deliver, and the secrets that sign. */
export type Target = RowOf<typeof TARGET>;

const DUE = `exists (
        select
        from cell.deliveries as d
        where d.webhook_id = c.id
          and d.state = 'pending'
          and d.due_at <= clock_timestamp()
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

const CLAIM = statement(
  "webhooks.claim",
  `
  update cell.webhooks as w
  set
    leased_by = $1::uuid,
    leased_until = clock_timestamp() + interval '30 seconds'
  where w.id in (
    select c.id
    from cell.webhooks as c
    where c.disabled_at is null
      and c.deleted_at is null
      and (c.leased_by = $1::uuid or c.leased_until is null or c.leased_until < clock_timestamp())
      and ${DUE}
    for update skip locked
  )
  returning w.id`,
);

/** Webhooks with due deliveries, which this process alone delivers for the next 30 seconds. */
export async function claimWebhooks(tx: Tx, processId: string): Promise<number[]> {
  const { rows } = await tx.run(CLAIM, [processId]);
  return rows.map(([id]) => readInteger(id));
}

const RENEW = statement(
  "webhooks.renew",
  `
  update cell.webhooks as w
  set leased_until = clock_timestamp() + interval '30 seconds'
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

const NOTE_FAILURE = statement(
  "webhooks.note_failure",
  `
  update cell.webhooks
  set failing_since = clock_timestamp()
  where id = $1
    and failing_since is null`,
);

const DISABLE = statement(
  "webhooks.disable",
  `
  update cell.webhooks
  set
    disabled_at = date_trunc('milliseconds', clock_timestamp()),
    disabled_by_failures = true
  where id = $1
    and disabled_at is null
    and failing_since < clock_timestamp() - interval '5 days'`,
);

/** Remembers since when a webhook has failed, and disables it after five days. Returns whether this call disabled it. */
export async function noteFailure(tx: Tx, id: number): Promise<boolean> {
  await tx.run(NOTE_FAILURE, [id]);
  const { rowCount } = await tx.run(DISABLE, [id]);
  return rowCount > 0;
}
