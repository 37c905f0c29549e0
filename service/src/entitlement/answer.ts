import { assert } from "../primitives/assert.ts";
import type { CustomerId, FeatureKey, Instant } from "../primitives/brand.ts";
import { publicId } from "../primitives/public-id.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { Uuid } from "../primitives/uuid.ts";
import type { Decision, Position, Reason } from "./decide.ts";

/**
 * How a response is stored under its idempotency key. The text is not stored but rendered again from an ID and a few
 * numbers. A replay has the same bytes because the rendering of a format never changes. The caller's own fields are not
 * stored either: a replay is only sent for the same request, which contains them.
 */
export const ANSWER_FORMAT_EVENT = 1;
export const ANSWER_FORMAT_CONSUME = 2;

export type StoredAnswer = {
  readonly format: number;
  /** The ID of the event, charge or denial. */
  readonly subjectId: Uuid;
  /** Null for an event. */
  readonly verdict: StoredVerdict | null;
};

export type StoredVerdict = {
  readonly reason: Reason | null;
  readonly creditsRequired: number;
  /** Null for an unknown customer. */
  readonly position: StoredPosition | null;
};

/** The remaining limit is not stored: it is computed. */
type StoredPosition = {
  readonly balance: number;
  readonly resetsAt: Instant | null;
  readonly limit: {
    readonly quantity: number;
    readonly used: number;
    readonly resetsAt: Instant | null;
  } | null;
};

/** Fields of the request that the response repeats. */
export type Asked = {
  readonly customerId: CustomerId;
  readonly feature: FeatureKey;
  readonly quantity: number;
};

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
    case ANSWER_FORMAT_CONSUME: {
      assert(verdict !== null && asked !== null, "a consume request has a verdict");
      const { reason, creditsRequired } = verdict;
      const consumed =
        reason === null
          ? `"consumeId":"${publicId("con", subjectId)}","creditsCharged":${creditsRequired}`
          : `"consumeId":null,"creditsCharged":0`;
      return `{${renderVerdict(verdict, asked)},${consumed}}`;
    }
    default:
      throw new UnknownAnswerFormat(`answer format ${format}`);
  }
}

/** The response to a check, which is never stored. */
export function renderCheck(decision: Extract<Decision, { kind: "decided" }>, asked: Asked): string {
  const { reason, creditsRequired, before } = decision;
  return `{${renderVerdict({ reason, creditsRequired, position: before }, asked)}}`;
}

function renderVerdict({ reason, creditsRequired, position }: StoredVerdict, asked: Asked): string {
  return (
    `"allowed":${reason === null},"reason":${reason === null ? "null" : `"${reason}"`},` +
    `"customerId":${JSON.stringify(asked.customerId)},"feature":${JSON.stringify(asked.feature)},` +
    `"quantity":${asked.quantity},"creditsRequired":${creditsRequired},"balance":${position?.balance ?? null},` +
    `"resetsAt":${renderTime(position?.resetsAt)},"limit":${renderLimit(position?.limit)}`
  );
}

function renderLimit(limit: StoredPosition["limit"] | undefined): string {
  if (limit === null || limit === undefined) return "null";
  const { quantity, used, resetsAt } = limit;
  const remaining = Math.max(0, quantity - used);
  return `{"quantity":${quantity},"used":${used},"remaining":${remaining},"resetsAt":${renderTime(resetsAt)}}`;
}

function renderTime(at: Position["resetsAt"] | undefined): string {
  return at === null || at === undefined ? "null" : `"${formatTimestamp(at)}"`;
}
