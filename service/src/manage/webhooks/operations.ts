import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { NOTICE_TYPES } from "../../entitlement/catalog.ts";
import { single } from "../../postgres/transaction.ts";
import { listWebhooks } from "../../store/cell/webhooks.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { refuseTarget } from "../../webhooks/target.ts";
import { invalidField, overlapSecondsField, strictObject } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { pageById, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import {
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  updateWebhook,
  WEBHOOKS_MAX,
} from "./change-webhook.ts";
import {
  describeWebhook,
  descriptionField,
  secretField,
  typesInput,
  urlField,
  Webhook,
} from "./describe-webhook.ts";

export const NOUN = "Webhooks";
export const WEBHOOKS_PATH = `${ENVIRONMENT_PATH}/webhooks`;
export const webhookParams = { ...environmentParams, id: Type.String({ examples: ["3"] }) };

/** Lists, creates, changes and deletes webhooks. */
export function webhookOperations(parts: ManageParts): Operation[] {
  return [listing(parts), creating(parts), updating(parts), deleting(parts), rotating(parts)];
}

function listing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: WEBHOOKS_PATH,
    access: { role: "viewer", in: "environment" },
    id: "listWebhooks",
    noun: NOUN,
    summary: "List webhooks",
    description: "Oldest first, without their secrets.",
    params: Type.Object(environmentParams),
    query: strictObject(pageQuery),
    answer: pageOf(Webhook),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const all = await single(cellOf(scopeOf(call)), (tx) => listWebhooks(tx, environmentId));
      const after = readIdCursor(call.query.cursor) ?? 0;
      const rest = all.filter(({ id }) => id > after);
      return pageById(rest, readLimit(call.query.limit), describeWebhook);
    },
  });
}

function creating({ cellOf, webhooks }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: WEBHOOKS_PATH,
    access: { role: "admin", in: "environment" },
    id: "createWebhook",
    noun: NOUN,
    summary: "Create a webhook",
    description:
      "From now on, Purser posts a notice to the URL when a customer's balance, limits, plan or holds change, for example when a " +
      "balance falls below a threshold of its pool (`lowBalances`).\n\n" +
      "- A notice is delivered at least once, signed as defined by Standard Webhooks.\n" +
      "- Notices of one customer arrive in order, unless a delivery has failed five times.\n" +
      "- Any response other than 2xx is a failure. Purser retries the delivery for three days, with increasing delays.\n" +
      "- If every delivery fails for five days, Purser disables the webhook.\n" +
      `- An environment can have ${WEBHOOKS_MAX} webhooks.`,
    params: Type.Object(environmentParams),
    body: strictObject({
      url: urlField,
      description: Type.Optional(descriptionField),
      types: Type.Optional({ ...typesInput, description: "The types of notices to receive. Default: all." }),
    }),
    answer: Type.Object({ webhook: Webhook, secret: secretField }),
    codes: ["too_many_webhooks", "upgrade_unfinished"],
    handle: async (call) => {
      const { url, description = null, types = NOTICE_TYPES } = call.body;
      refuseUrl(url, webhooks);
      const settings = { url, description, types };
      const created = await createWebhook(cellOf(scopeOf(call)), contextOf(call), settings);
      if (created === null) throw tooManyWebhooks();
      return { webhook: describeWebhook(created.webhook), secret: created.secret };
    },
  });
}

function updating({ cellOf, webhooks }: ManageParts): Operation {
  return operation({
    method: "PATCH",
    path: `${WEBHOOKS_PATH}/:id`,
    access: { role: "admin", in: "environment" },
    id: "updateWebhook",
    noun: NOUN,
    summary: "Edit a webhook",
    description:
      "Omitted fields are not changed. Safe to repeat.\n\n" +
      "A disabled webhook does not receive new notices. You can later replay notices that another webhook received. Deliveries that were " +
      "already pending wait until the webhook is enabled.",
    params: Type.Object(webhookParams),
    body: strictObject({
      url: Type.Optional(urlField),
      description: Type.Optional(descriptionField),
      types: Type.Optional(typesInput),
      enabled: Type.Optional(Type.Boolean()),
    }),
    answer: Webhook,
    handle: async (call) => {
      if (call.body.url !== undefined) refuseUrl(call.body.url, webhooks);
      const id = webhookIdOf(call);
      const webhook = await updateWebhook(cellOf(scopeOf(call)), contextOf(call), id, call.body);
      if (webhook === null) throw webhookNotFound();
      return describeWebhook(webhook);
    },
  });
}

function deleting({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: `${WEBHOOKS_PATH}/:id`,
    access: { role: "admin", in: "environment" },
    id: "deleteWebhook",
    noun: NOUN,
    summary: "Delete a webhook",
    description: "Pending deliveries are not sent. A repeated call returns 404.",
    params: Type.Object(webhookParams),
    answer: Type.Object({ outcome: Type.Enum(["deleted"]) }),
    handle: async (call) => {
      if (!(await deleteWebhook(cellOf(scopeOf(call)), contextOf(call), webhookIdOf(call))))
        throw webhookNotFound();
      return { outcome: "deleted" as const };
    },
  });
}

function rotating({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${WEBHOOKS_PATH}/:id/rotate`,
    access: { role: "admin", in: "environment" },
    id: "rotateWebhookSecret",
    noun: NOUN,
    summary: "Rotate a webhook's secret",
    description:
      "Creates a new secret. During the overlap, deliveries have two signatures, made with the new and the old secret. If you rotate " +
      "again during the overlap, the oldest secret stops signing, so first let your endpoint accept the new secret.",
    params: Type.Object(webhookParams),
    body: strictObject({
      overlapSeconds: overlapSecondsField(
        "How long deliveries are also signed with the old secret, at most a week.",
      ),
    }),
    answer: Type.Object({ webhook: Webhook, secret: secretField }),
    handle: async (call) => {
      const input = { id: webhookIdOf(call), overlapSeconds: call.body.overlapSeconds };
      const rotated = await rotateWebhookSecret(cellOf(scopeOf(call)), contextOf(call), input);
      if (rotated === null) throw webhookNotFound();
      return { webhook: describeWebhook(rotated.webhook), secret: rotated.secret };
    },
  });
}

function refuseUrl(url: string, policy: ManageParts["webhooks"]): void {
  const message = refuseTarget(url, policy);
  if (message !== null) throw invalidField({ field: "url", code: "wrong_form", message });
}

/** The ID in the path. Throws the error for a missing webhook if it cannot be an ID. */
export function webhookIdOf({ params }: { readonly params: { readonly id: string } }): number {
  const id = readRowId(params.id);
  if (id === null) throw webhookNotFound();
  return id;
}

/** Returns the same error for missing webhooks, deleted webhooks and webhooks in another environment. */
export function webhookNotFound(): Problem {
  return new Problem("not_found", { detail: "There is no such webhook in this environment." });
}

function tooManyWebhooks(): Problem {
  return new Problem("too_many_webhooks", {
    detail: `An environment can have at most ${WEBHOOKS_MAX} webhooks. Delete one first.`,
  });
}
