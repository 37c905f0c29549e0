import { type Static, Type } from "typebox";
import { NOTICE_TYPES, type NoticeType } from "../../entitlement/catalog.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Webhook as StoredWebhook } from "../../store/cell/webhooks.ts";
import { nullable, timeField, timeOf, timeOrNull } from "../fields.ts";

const noticeType = Type.Enum([...NOTICE_TYPES]);

/** The types as callers send them, in any order. */
export const typesInput = Type.Array(noticeType, {
  minItems: 1,
  // Checked before `uniqueItems`, which would take seconds for thousands of items.
  maxItems: NOTICE_TYPES.length,
  uniqueItems: true,
  description: "The types of notices that the webhook receives.",
  examples: [["balance.low", "balance.depleted"]],
});

export const urlField = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description:
    "Starts with https://, and has a public host name or address, unless the installation has `WEBHOOK_TARGETS=any`.",
  examples: ["https://api.example.com/purser"],
});

export const descriptionField = nullable(
  Type.String({ minLength: 1, maxLength: 255, examples: ["Tells customers about low balances"] }),
);

export const Webhook = Type.Object({
  id: Type.String({ examples: ["3"] }),
  url: Type.String({ examples: ["https://api.example.com/purser"] }),
  description: descriptionField,
  types: Type.Array(noticeType, { description: "The types of notices that the webhook receives." }),
  enabled: Type.Boolean(),
  createdAt: timeField,
  disabledAt: nullable(timeOf("Null while the webhook is enabled.")),
  disabledByFailures: Type.Boolean({
    description: "True if Purser disabled the webhook, because every delivery had failed for five days.",
  }),
  failingSince: nullable(timeOf("The first failed attempt since the last success. Null if none failed.")),
});

export type Webhook = Static<typeof Webhook>;

export const secretField = Type.String({
  description:
    "Signs every delivery, as defined by [Standard Webhooks](https://www.standardwebhooks.com). Only this response contains the secret.",
  examples: ["whsec_…"],
});

export function describeWebhook(webhook: StoredWebhook): Webhook {
  const { id, url, description, types, createdAt, disabledAt, disabledByFailures, failingSince } = webhook;
  return {
    id: String(id),
    url,
    description,
    types: inOrder(types),
    enabled: disabledAt === null,
    createdAt: formatTimestamp(createdAt),
    disabledAt: timeOrNull(disabledAt),
    disabledByFailures,
    failingSince: timeOrNull(failingSince),
  };
}

/** Sorts the types, so that two lists with the same types are equal. */
export function inOrder(types: readonly string[]): NoticeType[] {
  return NOTICE_TYPES.filter((type) => types.includes(type));
}

/** Describes a webhook in the audit log. Without the query of its URL, which may contain a token. */
export function summarizeWebhook(webhook: StoredWebhook): object {
  const { id, description, types, enabled } = describeWebhook(webhook);
  return { id, url: nameOfUrl(webhook), description, types, enabled };
}

export function nameOfUrl({ url }: Pick<StoredWebhook, "url">): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
