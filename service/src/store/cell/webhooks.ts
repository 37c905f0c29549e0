import { texts } from "../../postgres/binary-array.ts";
import {
  boolean,
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
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";

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

const REFRESH_TYPES = statement(
  "webhooks.refresh_types",
  `
  update cell.catalogs
  set notice_types = coalesce((
    select array_agg(distinct t.type)
    from cell.webhooks as w
    cross join unnest(w.types) as t (type)
    where w.environment_id = $1
      and w.disabled_at is null
      and w.deleted_at is null
  ), '{}')
  where environment_id = $1`,
);

/** Stores in the catalog which types its webhooks receive. Call this after every change to a webhook that affects them. */
export function refreshNoticeTypes(tx: Tx, environmentId: EnvironmentId): Promise<Rows> {
  return tx.run(REFRESH_TYPES, [environmentId]);
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
    failing_since = case when w.url <> $3 or ($6 and w.disabled_at is not null) then null else w.failing_since end
  where w.environment_id = $1
    and w.id = $2
    and w.deleted_at is null
  returning ${WEBHOOK.list}`,
);

/** A new URL, or enabling a disabled webhook, starts a new period in which it may fail. */
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
