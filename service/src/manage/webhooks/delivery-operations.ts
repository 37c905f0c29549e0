import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import { formatUuid } from "../../primitives/uuid.ts";
import { readClock } from "../../store/cell/clock.ts";
import { DELIVERY_STATES, listDeliveries } from "../../store/cell/deliveries.ts";
import { addTest, type Replay, replayNotices, retryDelivery } from "../../store/cell/replays.ts";
import { findWebhook } from "../../store/cell/webhooks.ts";
import type { Context } from "../context.ts";
import { nullable, readTime, strictObject, timeOf } from "../fields.ts";
import { historyStartOf, windowAnswer } from "../history-window.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import { decodeCursor, encodeCursor, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { auditOf, recordChange } from "./change-webhook.ts";
import { Delivery, describeDelivery, noticeIdField, noticePage } from "./describe-notice.ts";
import { summarizeWebhook } from "./describe-webhook.ts";
import { NOUN, WEBHOOKS_PATH, webhookIdOf, webhookNotFound, webhookParams } from "./operations.ts";

/** Maximum number of notices that one call replays. */
const REPLAYED_MAX = 1_000;

const WHILE_DISABLED = "If the webhook is disabled, the delivery waits until it is enabled.";

/** Lists, tests and repeats the deliveries of a webhook. */
export function deliveryOperations(parts: ManageParts): Operation[] {
  return [testing(parts), listing(parts), retrying(parts), replaying(parts)];
}

function testing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${WEBHOOKS_PATH}/:id/test`,
    access: { role: "operator", in: "environment" },
    id: "testWebhook",
    noun: NOUN,
    summary: "Test a webhook",
    description:
      "Delivers a notice of the type `webhook.test`, whose `data` is empty, to this webhook within seconds. " +
      `The list of deliveries shows the response. ${WHILE_DISABLED}`,
    params: Type.Object(webhookParams),
    answer: Type.Object({ noticeId: noticeIdField }),
    handle: async (call) => {
      const name = { environmentId: scopeOf(call).environmentId, id: webhookIdOf(call) };
      const id = await transaction(cellOf(scopeOf(call)), async (tx) =>
        (await findWebhook(tx, name)) === null ? null : addTest(tx, name),
      );
      if (id === null) throw webhookNotFound();
      return { noticeId: publicId("ntc", id) };
    },
  });
}

function listing({ cellOf, control }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${WEBHOOKS_PATH}/:id/deliveries`,
    access: { role: "viewer", in: "environment" },
    id: "listDeliveries",
    noun: NOUN,
    summary: "List a webhook's deliveries",
    description:
      "Returns the deliveries of the last 30 days, newest notice first, with the last response. If you filter by state, a page can " +
      "contain fewer than `limit` items, or none. Continue until `nextCursor` is null. Notices from before the workspace's history " +
      "window are not returned.",
    params: Type.Object(webhookParams),
    query: strictObject({
      ...pageQuery,
      state: Type.Optional(
        Type.Enum([...DELIVERY_STATES], { description: "Only deliveries in this state." }),
      ),
    }),
    answer: Type.Object({ ...pageOf(Delivery).properties, ...windowAnswer }),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const webhook = webhookIdOf(call);
      const { state = null, cursor } = call.query;
      const limit = readLimit(call.query.limit);
      const before = readIdCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
      const windowStart = await historyStartOf(control, call);
      const found = await single(cellOf(scopeOf(call)), async (tx) =>
        (await findWebhook(tx, { environmentId, id: webhook })) === null
          ? null
          : listDeliveries(tx, { webhook, state, before, limit: limit + 1 }),
      );
      if (found === null) throw webhookNotFound();
      const read = { rows: found.deliveries, limit, end: found.end, windowStart };
      return noticePage(read, ({ notice }) => notice, describeDelivery);
    },
  });
}

function retrying({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${WEBHOOKS_PATH}/:id/deliveries/:noticeId/retry`,
    access: { role: "operator", in: "environment" },
    id: "retryDelivery",
    noun: NOUN,
    summary: "Retry a delivery",
    description: `Delivers a notice to this webhook again, now and for another three days, even if it was already delivered. ${WHILE_DISABLED}`,
    params: Type.Object({ ...webhookParams, noticeId: noticeIdField }),
    answer: Type.Object({ noticeId: noticeIdField }),
    handle: async (call) => {
      const { noticeId } = call.params;
      const name = { environmentId: scopeOf(call).environmentId, id: webhookIdOf(call) };
      const notice = parsePublicId("ntc", noticeId);
      const isRetried = await transaction(cellOf(scopeOf(call)), async (tx) => {
        if ((await findWebhook(tx, name)) === null) throw webhookNotFound();
        return notice !== null && retryDelivery(tx, name.id, formatUuid(notice));
      });
      if (!isRetried) throw new Problem("not_found", { detail: "This webhook has no such delivery." });
      return { noticeId };
    },
  });
}

function replaying({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${WEBHOOKS_PATH}/:id/replay`,
    access: { role: "operator", in: "environment" },
    id: "replayWebhook",
    noun: NOUN,
    summary: "Replay notices",
    description:
      "Delivers the notices from a time range to this webhook again, for example after your endpoint lost them. This includes notices " +
      "that only other webhooks received, because this webhook did not exist or was disabled. Notices are kept for 30 days.\n\n" +
      `A call replays at most ${REPLAYED_MAX.toLocaleString("en")} notices. Repeat the call with \`nextCursor\` as \`cursor\` until it ` +
      `is null. ` +
      "Each repeated call without a cursor delivers the notices again.",
    params: Type.Object(webhookParams),
    body: strictObject({
      from: timeOf("Only notices recorded at this time or later."),
      to: Type.Optional(timeOf("Only notices recorded before this time. Default: now.")),
      undeliveredOnly: Type.Optional(
        Type.Boolean({
          description:
            "Only notices that this webhook did not accept when they were sent to it, for example after you have repaired your endpoint. " +
            "Default: false.",
        }),
      ),
      cursor: Type.Optional(
        Type.String({
          maxLength: 200,
          description: "The `nextCursor` from the previous call.",
          examples: ["WzQyXQ"],
        }),
      ),
    }),
    answer: Type.Object({
      replayed: Type.Integer({ description: "Notices replayed by this call.", examples: [118] }),
      nextCursor: nullable(
        Type.String({
          description: "Send this value as `cursor` to replay the next notices. Null if there are no more.",
          examples: ["WzQyXQ"],
        }),
      ),
    }),
    handle: async (call) => {
      const { from, to, undeliveredOnly = false, cursor } = call.body;
      const start = readTime("from", from);
      const [recordedAt = start, number = 0, end = null] =
        decodeCursor(cursor, ["number", "number", "number"]) ?? [];
      const range = {
        after: { recordedAt: within(recordedAt), number },
        undeliveredOnly,
        to: end === null ? (readTime("to", to) ?? null) : within(end),
      };
      const replayed = await replay(cellOf(scopeOf(call)), contextOf(call), webhookIdOf(call), range);
      if (replayed === null) throw webhookNotFound();
      return replayed;
    },
  });
}

type Range = Pick<Replay, "after" | "undeliveredOnly"> & { readonly to: Instant | null };

/** Null if the environment has no such webhook. */
function replay(cell: Pool, context: Context, id: number, { after, to, undeliveredOnly }: Range) {
  return transaction(cell, async (tx) => {
    const webhook = await findWebhook(tx, { environmentId: context.environmentId, id });
    if (webhook === null) return null;
    // The cursor keeps this time, so that the calls come to an end even if more notices are recorded in the meantime.
    const end = to ?? within((await readClock(tx)) + 1);
    const notices = await replayNotices(tx, {
      ...{ webhook: id, after, to: end, undeliveredOnly },
      limit: REPLAYED_MAX,
    });
    const replayed = notices.length;
    if (replayed > 0) {
      const range = { from: formatTimestamp(after.recordedAt), to: formatTimestamp(end), replayed };
      const audit = auditOf("webhook.replayed", webhook, null, { ...summarizeWebhook(webhook), ...range });
      await recordChange(tx, context, audit);
    }
    const last = replayed < REPLAYED_MAX ? undefined : notices.at(-1);
    const nextCursor = last === undefined ? null : encodeCursor([last.recordedAt, last.number, end]);
    return { replayed, nextCursor };
  });
}

/** Clamps a time to the range that can be formatted. */
function within(at: number): Instant {
  return brandAs<Instant>(Math.min(Math.max(at, 0), TIME_MAX));
}
