import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  deleteWebhook as deleteStored,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  refreshNoticeTypes,
  rotateSecret,
  updateWebhook as updateStored,
  type Webhook,
  type WebhookSettings,
} from "../../store/cell/webhooks.ts";
import { makeWebhookSecret } from "../../webhooks/sign.ts";
import { isSame } from "../catalog/content.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { type EnvironmentAudit, recordAudits } from "../record-audits.ts";
import { refuseEarlyNotices } from "../refuse-unfinished-upgrade.ts";
import { inOrder, nameOfUrl, summarizeWebhook } from "./describe-webhook.ts";

// The catalog lists the types of notices that some webhook receives, so that decisions do not write other types. Changing
// this list therefore edits the catalog, although catalog documents do not contain webhooks.

/** Maximum number of webhooks per environment. A notice has one delivery for each webhook. */
export const WEBHOOKS_MAX = 20;

export type WithSecret = { readonly webhook: Webhook; readonly secret: string };

/** Creates a webhook. Null if the environment has too many. */
export function createWebhook(
  cell: Pool,
  context: Context,
  settings: WebhookSettings,
): Promise<WithSecret | null> {
  const { environmentId } = context;
  return editCatalog<WithSecret | null>(cell, context, async (tx) => {
    await refuseEarlyNotices(tx, "Webhooks");
    if ((await listWebhooks(tx, environmentId)).length >= WEBHOOKS_MAX) return { outcome: null, audits: [] };
    const secret = makeWebhookSecret();
    const types = inOrder(settings.types);
    const webhook = await insertWebhook(tx, environmentId, { ...settings, types, secret });
    await refreshNoticeTypes(tx, environmentId);
    const audit = auditOf("webhook.created", webhook, null, summarizeWebhook(webhook));
    return { outcome: { webhook, secret }, audits: [audit] };
  });
}

/** The fields to change. */
export type WebhookPatch = Partial<WebhookSettings & { readonly enabled: boolean }>;

/** Changes a webhook. Safe to repeat. Null if the environment has no such webhook. */
export function updateWebhook(
  cell: Pool,
  context: Context,
  id: number,
  patch: WebhookPatch,
): Promise<Webhook | null> {
  const name = { environmentId: context.environmentId, id };
  return editCatalog<Webhook | null>(cell, context, async (tx) => {
    const before = await lockWebhook(tx, name);
    if (before === null) return { outcome: null, audits: [] };
    const was = settingsOf(before);
    const is = settingsOf({ ...before, ...patch }, patch.enabled);
    if (isSame(was, is)) return { outcome: before, audits: [] };
    const after = await updateStored(tx, name, is);
    await refreshNoticeTypes(tx, context.environmentId);
    const audit = auditOf("webhook.changed", after, summarizeWebhook(before), {
      ...summarizeWebhook(after),
      // The query may contain a token, so the entry does not show it.
      ...(before.url !== after.url && nameOfUrl(before) === nameOfUrl(after) ? { queryChanged: true } : {}),
    });
    return { outcome: after, audits: [audit] };
  });
}

function settingsOf({ url, description, types, disabledAt }: Webhook, enabled = disabledAt === null) {
  return { url, description, types: inOrder(types), isEnabled: enabled };
}

/** Deletes a webhook. Returns false if the environment has no such webhook. */
export function deleteWebhook(cell: Pool, context: Context, id: number): Promise<boolean> {
  const name = { environmentId: context.environmentId, id };
  return editCatalog(cell, context, async (tx) => {
    const before = await lockWebhook(tx, name);
    if (before === null) return { outcome: false, audits: [] };
    await deleteStored(tx, name);
    await refreshNoticeTypes(tx, context.environmentId);
    return {
      outcome: true,
      audits: [auditOf("webhook.deleted", before, summarizeWebhook(before), null)],
    };
  });
}

/**
 * Replaces the secret. Deliveries are also signed with the old secret for `overlapSeconds`. Null if the environment has no such webhook.
 */
export function rotateWebhookSecret(
  cell: Pool,
  context: Context,
  { id, overlapSeconds }: { readonly id: number; readonly overlapSeconds: number },
): Promise<WithSecret | null> {
  const name = { environmentId: context.environmentId, id };
  return transaction(cell, async (tx) => {
    const webhook = await lockWebhook(tx, name);
    if (webhook === null) return null;
    const secret = makeWebhookSecret();
    await rotateSecret(tx, name, { secret, overlapSeconds });
    const summary = summarizeWebhook(webhook);
    const audit = auditOf("webhook.secret_rotated", webhook, summary, { ...summary, overlapSeconds });
    await recordChange(tx, context, audit);
    return { webhook, secret };
  });
}

export function auditOf(
  action: string,
  webhook: Webhook,
  before: object | null,
  after: object | null,
): EnvironmentAudit {
  return { action, subject: nameOfUrl(webhook), before, after };
}

/** Records a change that does not require a new catalog version. */
export async function recordChange(tx: Tx, context: Context, audit: EnvironmentAudit): Promise<void> {
  await recordAudits(tx, context, await readClock(tx), [audit]);
}
