import { type Static, Type } from "typebox";
import type { Instant } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { DELIVERY_STATES, type Delivery as StoredDelivery } from "../../store/cell/deliveries.ts";
import type { StoredNotice } from "../../store/cell/notices.ts";
import { renderNotice } from "../../webhooks/render.ts";
import { nullable, shownCustomerName, timeOf, timeOrNull } from "../fields.ts";
import { describeWindow } from "../history-window.ts";
import { cursorOf } from "../page.ts";

export const noticeIdField = Type.String({
  maxLength: 64,
  description: "The notice's ID, which is also the `webhook-id` header of its deliveries.",
  examples: ["ntc_01k9zq6n2wf3rvd0m6zj8b6c1t"],
});

export const NoticeData = Type.Object(
  {
    customerId: Type.Optional(Type.String({ examples: ["customer_42"] })),
    sequence: Type.Optional(
      Type.Integer({
        description: "The customer's last ledger entry after the change. A higher number is newer.",
        examples: [118],
      }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "The `data` that webhooks receive. Balances include held credits. Each type has more fields:\n\n" +
      "- `balance.low`, a balance fell below a threshold of its pool: `pool`, `threshold`, `balance`\n" +
      "- `balance.depleted`, a balance fell to 0: `pool`, `balance`\n" +
      "- `overage.started`, a customer began to use overage: `pool`\n" +
      "- `limit.reached`, a limit was used up: `feature`, `limit`, `resetsAt` (null if it never resets)\n" +
      "- `plan.changed`, another plan started: `plan`, `previousPlan` (null if there was none)\n" +
      "- `plan.ended`, an assigned plan ended, and no other plan was assigned: `plan`\n" +
      "- `hold.expired`, a hold expired before it was settled or released: `holdId`, `charged` (true if the hold was charged in full)\n" +
      "- `hold.uncovered`, a settlement cost more credits than the customer had: `holdId`, `feature`, `credits`\n" +
      "- `topup.due`, a customer's rule requests credits: `pool`, `below`, `balance`, `credits`, `topUpId` (the same in every attempt), " +
      "`attempt`\n\n" +
      "Empty for a test, and if the customer was erased.",
    examples: [{ customerId: "customer_42", sequence: 118, pool: "credits", threshold: 100, balance: 95 }],
  },
);

const aboutNotice = {
  type: Type.String({
    description: "A type that webhooks can receive, or `webhook.test`.",
    examples: ["balance.low"],
  }),
  customerId: nullable(
    Type.String({
      description: "Null for a test, and if the customer was erased.",
      examples: ["customer_42"],
    }),
  ),
  customerName: shownCustomerName,
  data: NoticeData,
  effectiveAt: timeOf(
    "When the change occurred. Webhooks receive this time as `timestamp`. For an inactive customer, it can be long before `recordedAt`.",
  ),
  recordedAt: timeOf("When the notice was recorded."),
};

export const Notice = Type.Object({
  id: noticeIdField,
  ...aboutNotice,
  sequence: Type.Integer({
    description: "The customer's last ledger entry after the change.",
    examples: [118],
  }),
});

export const Delivery = Type.Object({
  noticeId: noticeIdField,
  ...aboutNotice,
  state: Type.Enum([...DELIVERY_STATES], {
    description:
      "`pending`: not sent yet, or waiting for a retry. `failed`: no longer retried, after three days of failures.",
  }),
  attempts: Type.Integer({ description: "Attempts since the last retry or replay.", examples: [1] }),
  nextAttemptAt: nullable(
    timeOf("The earliest time of the next attempt. Null if none will follow. In the past if it is due."),
  ),
  lastAttemptAt: nullable(timeOf("Null before the first attempt.")),
  status: nullable(
    Type.Integer({
      description: "The HTTP status of the last response. Null if there was none.",
      examples: [200],
    }),
  ),
  answer: nullable(
    Type.String({
      description: "The beginning of the last response's body, or why there was no response.",
      examples: ["No complete response within 10000 ms"],
    }),
  ),
});

export function describeNotice(notice: StoredNotice): Static<typeof Notice> {
  const { id, sequence } = notice;
  return { id: publicId("ntc", id), ...describeContent(notice), sequence };
}

export function describeDelivery(delivery: StoredDelivery): Static<typeof Delivery> {
  const { notice, state, attempts, dueAt, attemptedAt, status, answer } = delivery;
  return {
    noticeId: publicId("ntc", notice.id),
    ...describeContent(notice),
    state,
    attempts,
    nextAttemptAt: state === "pending" ? formatTimestamp(dueAt) : null,
    lastAttemptAt: timeOrNull(attemptedAt),
    status,
    answer,
  };
}

function describeContent(notice: StoredNotice) {
  const { type, customerId, customerName, effectiveAt, recordedAt } = notice;
  return {
    type,
    customerId,
    customerName,
    data: dataOf(notice),
    effectiveAt: formatTimestamp(effectiveAt),
    recordedAt: formatTimestamp(recordedAt),
  };
}

/** Taken from the body that is sent, so that both are equal. */
function dataOf(notice: StoredNotice): Static<typeof NoticeData> {
  const body = renderNotice(notice);
  return body === null ? {} : JSON.parse(body).data;
}

/** Rows that a list has read, newest first. */
type Read<T> = {
  readonly rows: readonly T[];
  /** There is another page if there are more rows. */
  readonly limit: number;
  /** The notice after which to continue if there are no more rows. */
  readonly end: number | null;
  readonly windowStart: Instant | null;
};

/** Builds a page of the rows whose notices are within the history window. */
export function noticePage<T, I>(
  { rows, limit, end, windowStart }: Read<T>,
  noticeOf: (row: T) => StoredNotice,
  describe: (row: T) => I,
) {
  const page = rows.slice(0, limit);
  const isShown = (at: Instant): boolean => windowStart === null || at >= windowStart;
  const last = page.at(-1);
  const next = rows.length > limit && last !== undefined ? noticeOf(last).number : end;
  // All later rows were recorded earlier, and a notice is never effective after it was recorded.
  const isOver = last !== undefined && !isShown(noticeOf(last).recordedAt);
  return {
    items: page.filter((row) => isShown(noticeOf(row).effectiveAt)).map(describe),
    nextCursor: cursorOf(isOver ? null : next),
    ...describeWindow(windowStart),
  };
}
