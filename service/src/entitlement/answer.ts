import { assert } from "../primitives/assert.ts";
import { publicId } from "../primitives/public-id.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { Consumption } from "./consumption.ts";
import type { Decided, Reason } from "./decide.ts";
import {
  ANSWER_FORMAT_CONSUME,
  ANSWER_FORMAT_DENIAL,
  ANSWER_FORMAT_EVENT,
  ANSWER_FORMAT_ITEMS,
  readAffordable,
  type StoredAnswer,
  type StoredItem,
  type StoredPosition,
  unpackVerdict,
  type Verdict,
  verdictOf,
} from "./stored-answer.ts";

/** Fields of the request that the response repeats. */
export type Asked = Pick<Consumption, "customerId" | "items" | "hasItems">;

/** A newer release stored this response, and only a newer release can render it. */
export class UnknownAnswerFormat extends Error {
  override readonly name = "UnknownAnswerFormat";
}

export function renderAnswer(answer: StoredAnswer, asked: Asked | null): string {
  const { format, subjectId, verdict } = answer;
  assert(subjectId.length === 16, "an answer names its subject");
  switch (format) {
    case ANSWER_FORMAT_EVENT:
      return `{"accepted":true,"eventId":"${publicId("evt", subjectId)}"}`;
    case ANSWER_FORMAT_CONSUME:
    case ANSWER_FORMAT_DENIAL: {
      assert(verdict?.single != null && asked !== null, "a consume request has a verdict");
      const { reason, single } = verdict;
      const charged = reason === null ? single.creditsRequired : 0;
      const rendered = renderSingle({ reason, single, affordableQuantity: readAffordable(answer) }, asked);
      return `{${rendered},"consumeId":${renderId(reason, subjectId)},"creditsCharged":${charged}}`;
    }
    case ANSWER_FORMAT_ITEMS: {
      assert(verdict !== null && asked !== null, "a consume request has a verdict");
      const rendered = renderItems(unpackVerdict(verdict), asked, { isCharge: true });
      return `{${rendered},"consumeId":${renderId(verdict.reason, subjectId)}}`;
    }
    default:
      throw new UnknownAnswerFormat(`answer format ${format}`);
  }
}

/** The response to a check, which is never stored. */
export function renderCheck(decision: Decided, asked: Asked): string {
  const verdict = verdictOf(decision, "before");
  const [single] = verdict.items;
  assert(single !== undefined, "a request has at least one item");
  const rendered = asked.hasItems
    ? renderItems(verdict, asked, { isCharge: false })
    : renderSingle({ ...verdict, single }, asked);
  return `{${rendered}}`;
}

function renderId(reason: Reason | null, subjectId: StoredAnswer["subjectId"]): string {
  return reason === null ? `"${publicId("con", subjectId)}"` : "null";
}

type Single = Pick<Verdict, "reason" | "affordableQuantity"> & { readonly single: StoredItem };

function renderSingle({ reason, affordableQuantity, single }: Single, { customerId, items }: Asked): string {
  const { creditsRequired, position } = single;
  const affordable = affordableQuantity === null ? "" : `,"affordableQuantity":${affordableQuantity}`;
  return (
    `${renderReason(reason)},"customerId":${JSON.stringify(customerId)},` +
    `"feature":${JSON.stringify(items[0]?.feature)},"quantity":${items[0]?.quantity},` +
    `"creditsRequired":${creditsRequired},${renderPosition(position)}${affordable}`
  );
}

function renderItems(verdict: Verdict, asked: Asked, { isCharge }: { isCharge: boolean }): string {
  const { reason, deniedItem, affordableQuantity } = verdict;
  const items = verdict.items.map(({ creditsRequired, pool, position }, index) => {
    const item = asked.items[index];
    assert(item !== undefined, "a response has the items of its request");
    const charged = isCharge ? `"creditsCharged":${reason === null ? creditsRequired : 0},` : "";
    return (
      `{"feature":${JSON.stringify(item.feature)},"quantity":${item.quantity},"creditsRequired":${creditsRequired},` +
      `${charged}"pool":${JSON.stringify(pool)},${renderPosition(position)}}`
    );
  });
  const denial = reason === null ? "" : `"affordableQuantity":${affordableQuantity},`;
  return (
    `${renderReason(reason)},"deniedItem":${deniedItem},${denial}"customerId":${JSON.stringify(asked.customerId)},` +
    `"items":[${items.join(",")}]`
  );
}

function renderReason(reason: Reason | null): string {
  return `"allowed":${reason === null},"reason":${reason === null ? "null" : `"${reason}"`}`;
}

function renderPosition(position: StoredPosition | null): string {
  return (
    `"balance":${position?.balance ?? null},"resetsAt":${renderTime(position?.resetsAt)},` +
    `"limit":${renderLimit(position?.limit)}`
  );
}

function renderLimit(limit: StoredPosition["limit"] | undefined): string {
  if (limit === null || limit === undefined) return "null";
  const { quantity, used, resetsAt } = limit;
  const remaining = Math.max(0, quantity - used);
  return `{"quantity":${quantity},"used":${used},"remaining":${remaining},"resetsAt":${renderTime(resetsAt)}}`;
}

function renderTime(at: StoredPosition["resetsAt"] | undefined): string {
  return at === null || at === undefined ? "null" : `"${formatTimestamp(at)}"`;
}
