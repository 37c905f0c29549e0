import type { Body } from "../../api/answer.ts";
import { NOTICE_TYPES, type NoticeType } from "../../format/notices.ts";
import type { Delivery, Webhook } from "./queries.ts";

// A new type of the API does not compile until it has a name.
({}) satisfies Record<Exclude<Webhook["types"][number], NoticeType>, never>;

export type WebhookState = "enabled" | "failing" | "disabled" | "gave-up";

export function stateOf({ enabled, disabledByFailures, failingSince }: Webhook): WebhookState {
  if (!enabled) return disabledByFailures ? "gave-up" : "disabled";
  return failingSince === null ? "enabled" : "failing";
}

/** The description, or the host of the URL. */
export function nameOfWebhook({ description, url }: Webhook): string {
  return description ?? new URL(url).host;
}

export type WebhookForm = { url: string; description: string; types: NoticeType[] };

export const ALL_TYPES = Object.keys(NOTICE_TYPES) as NoticeType[];

export function formOf(webhook: Webhook | null): WebhookForm {
  return {
    url: webhook?.url ?? "",
    description: webhook?.description ?? "",
    types: [...(webhook?.types ?? ALL_TYPES)],
  };
}

/** All types are the default. */
export function toCreation({ url, description, types }: WebhookForm): Body<"createWebhook"> {
  return {
    url: url.trim(),
    ...(description.trim() === "" ? {} : { description: description.trim() }),
    ...(types.length === ALL_TYPES.length ? {} : { types: inOrder(types) }),
  };
}

/** Only what changes, so that an edit by someone else is kept. */
export function toPatch({ url, description, types }: WebhookForm, webhook: Webhook): Body<"updateWebhook"> {
  const wanted = { url: url.trim(), description: description.trim() || null, types: inOrder(types) };
  return {
    ...(wanted.url === webhook.url ? {} : { url: wanted.url }),
    ...(wanted.description === webhook.description ? {} : { description: wanted.description }),
    ...(wanted.types.join() === webhook.types.join() ? {} : { types: wanted.types }),
  };
}

function inOrder(types: readonly NoticeType[]): NoticeType[] {
  return ALL_TYPES.filter((type) => types.includes(type));
}

/** The body of a delivery, byte for byte. */
export function bodyOf({ type, effectiveAt, data }: Delivery): string {
  return JSON.stringify({ type, timestamp: effectiveAt, data });
}

const REFRESH_MS_MIN = 2_000;
/** The next attempts after this are hours away. */
const REFRESH_MS_MAX = 10 * 60_000;

/** When to look for the result of the next attempt. Null if none is near. */
export function refreshAfter(
  deliveries: readonly Pick<Delivery, "nextAttemptAt">[],
  now: number,
): number | null {
  const waits = deliveries.flatMap(({ nextAttemptAt }) =>
    nextAttemptAt === null
      ? []
      : [Math.max(REFRESH_MS_MIN, Date.parse(nextAttemptAt) - now + REFRESH_MS_MIN)],
  );
  const wait = Math.min(...waits);
  return wait <= REFRESH_MS_MAX ? wait : null;
}
