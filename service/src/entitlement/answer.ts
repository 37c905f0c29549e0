import { assert } from "../primitives/assert.ts";
import { publicId } from "../primitives/public-id.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { Consumption } from "./consumption.ts";
import type { Decided, Reason } from "./decide.ts";
import {
  ANSWER_FORMAT_CONSUME,
  ANSWER_FORMAT_DENIAL,
  ANSWER_FORMAT_EVENT,
  ANSWER_FORMAT_HOLD,
  ANSWER_FORMAT_ITEMS,
  ANSWER_FORMAT_OVERAGE,
  ANSWER_FORMAT_REVERSAL,
  readAffordable,
  type StoredAnswer,
  type StoredItem,
  type StoredPosition,
  unpackHold,
  unpackVerdict,
  type Verdict,
  verdictOf,
} from "./stored-answer.ts";

/** Fields of the request that the response repeats. */
export type Asked = Pick<Consumption, "customerId" | "items" | "hasItems">;

/** Thrown for a stored response in a format that only newer releases can render. */
export class UnknownAnswerFormat extends Error {
  override readonly name = "UnknownAnswerFormat";
}

export function renderAnswer(answer: StoredAnswer, asked: Asked | null): string {
  const { format, subjectId, verdict } = answer;
  assert(subjectId.length === 16, "a stored response has a subject ID");
  switch (format) {
    case ANSWER_FORMAT_EVENT:
      return `{"accepted":true,"eventId":"${publicId("evt", subjectId)}"}`;
    case ANSWER_FORMAT_CONSUME:
    case ANSWER_FORMAT_DENIAL: {
      assert(verdict?.single != null && asked !== null, "a consume request has a verdict");
      const { reason, single } = verdict;
      const charged = reason === null ? single.creditsRequired : 0;
      const rendered = renderSingle({ reason, single, affordableQuantity: readAffordable(answer) }, asked);
      return `{${rendered},"consumeId":${renderId("con", reason, subjectId)},"creditsCharged":${charged}}`;
    }
    case ANSWER_FORMAT_OVERAGE: {
      assert(verdict !== null && asked !== null, "a consume request has a verdict");
      const unpacked = unpackVerdict(verdict);
      const [single] = unpacked.items;
      assert(single !== undefined, "a request has at least one item");
      const rendered = renderSingle({ ...unpacked, single }, asked);
      const taken = renderTaken("creditsCharged", verdict.reason, single);
      return `{${rendered},"consumeId":${renderId("con", verdict.reason, subjectId)},${taken}}`;
    }
    case ANSWER_FORMAT_ITEMS: {
      assert(verdict !== null && asked !== null, "a consume request has a verdict");
      const rendered = renderItems(unpackVerdict(verdict), asked, "creditsCharged");
      return `{${rendered},"consumeId":${renderId("con", verdict.reason, subjectId)}}`;
    }
    case ANSWER_FORMAT_HOLD: {
      assert(verdict !== null && asked !== null, "a request for a hold has a verdict");
      return renderHold(unpackHold(verdict), asked, subjectId);
    }
    case ANSWER_FORMAT_REVERSAL: {
      assert(verdict?.details != null && asked !== null, "a reversal has details");
      const named = { consumeId: publicId("con", subjectId), customerId: asked.customerId };
      return `${JSON.stringify(named).slice(0, -1)},${verdict.details.slice(1)}`;
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
    ? renderItems(verdict, asked, null)
    : renderSingle({ ...verdict, single }, asked);
  return `{${rendered}}`;
}

/** Renders the response to a hold request: a consume response with the hold instead of the charge. */
function renderHold(
  { verdict, expiresAt }: ReturnType<typeof unpackHold>,
  asked: Asked,
  subjectId: StoredAnswer["subjectId"],
): string {
  const { reason } = verdict;
  const hold = `"holdId":${renderId("hld", reason, subjectId)}`;
  const end = `"expiresAt":${renderTime(expiresAt)}`;
  if (asked.hasItems) return `{${renderItems(verdict, asked, "creditsHeld")},${hold},${end}}`;
  const [single] = verdict.items;
  assert(single !== undefined, "a request has at least one item");
  const held = renderTaken("creditsHeld", reason, single);
  return `{${renderSingle({ ...verdict, single }, asked)},${hold},${held},${end}}`;
}

function renderId(
  prefix: "con" | "hld",
  reason: Reason | null,
  subjectId: StoredAnswer["subjectId"],
): string {
  return reason === null ? `"${publicId(prefix, subjectId)}"` : "null";
}

type Single = Pick<Verdict, "reason" | "affordableQuantity"> & { readonly single: StoredItem };

function renderSingle({ reason, affordableQuantity, single }: Single, { customerId, items }: Asked): string {
  const { creditsRequired } = single;
  const affordable = affordableQuantity === null ? "" : `,"affordableQuantity":${affordableQuantity}`;
  return (
    `${renderReason(reason)},"customerId":${JSON.stringify(customerId)},` +
    `"feature":${JSON.stringify(items[0]?.feature)},"quantity":${items[0]?.quantity},` +
    `"creditsRequired":${creditsRequired},${renderPosition(single)}${affordable}`
  );
}

/** `taken` is the response field for the charged or held credits. Null for a check. */
function renderItems(verdict: Verdict, asked: Asked, taken: "creditsCharged" | "creditsHeld" | null): string {
  const { reason, deniedItem, affordableQuantity } = verdict;
  const items = verdict.items.map((each, index) => {
    const { creditsRequired, pool } = each;
    const item = asked.items[index];
    assert(item !== undefined, "a response has the items of its request");
    const charged = taken === null ? "" : `${renderTaken(taken, reason, each)},`;
    return (
      `{"feature":${JSON.stringify(item.feature)},"quantity":${item.quantity},"creditsRequired":${creditsRequired},` +
      `${charged}"pool":${JSON.stringify(pool)},${renderPosition(each)}}`
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

/** Renders the credits that were charged or held, without overage. */
function renderTaken(
  field: "creditsCharged" | "creditsHeld",
  reason: Reason | null,
  { creditsRequired, overageCredits }: StoredItem,
): string {
  return `"${field}":${reason === null ? creditsRequired - overageCredits : 0}`;
}

/** Renders an item's balance, limit and overage. Omits the overage if the plan does not allow overage. */
function renderPosition({ position, overageCredits }: StoredItem): string {
  return (
    `"balance":${position?.balance ?? null},"resetsAt":${renderTime(position?.resetsAt)},` +
    `"limit":${renderLimit(position?.limit)}${renderOverage(position?.overage, overageCredits)}`
  );
}

function renderOverage(overage: StoredPosition["overage"] | undefined, overageCredits: number): string {
  if (overage === null || overage === undefined) return "";
  const { credits, used, remaining } = overage;
  const position = `{"credits":${credits},"used":${used},"remaining":${remaining}}`;
  return `,"overage":${position},"overageCredits":${overageCredits}`;
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
