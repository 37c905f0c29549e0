import type { FastifyReply } from "fastify";
import { Problem } from "../edge/problem.ts";
import { type Asked, renderAnswer, renderCheck, UnknownAnswerFormat } from "../entitlement/answer.ts";
import type { StoredAnswer } from "../entitlement/stored-answer.ts";
import { assert, assertNever } from "../primitives/assert.ts";
import type { BatchCounts } from "../primitives/batch-counts.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { CheckOutcome } from "./check/reader.ts";
import type { HoldProblem, Outcome } from "./commit/request.ts";

/** The response body, and what the request log records about the response. */
export type Answer = {
  readonly text: string;
  readonly isReplay: boolean;
  /** The reason for a denial. Null if the request was not denied. */
  readonly reason: string | null;
  /** Only for a batch: how many of its events were accepted, replayed and rejected. */
  readonly counts?: BatchCounts;
};

/** Converts an outcome to a response, or throws the corresponding `Problem`. */
export function toAnswer(
  outcome: Exclude<Outcome, { kind: "feature_not_found" }>,
  asked: Asked | null,
): Answer {
  assert(outcome.kind !== "hold_changed", "only a request that changes a hold has this outcome");
  if (outcome.kind !== "answered") throw toProblem(outcome);
  const { answer, replayed: isReplay } = outcome;
  return { text: render(answer, asked), isReplay, reason: answer.verdict?.reason ?? null };
}

/** Builds the response to a request that changes a hold: the fields in `named`, followed by the stored fields. */
export function toHoldAnswer(outcome: Outcome, named: { holdId: string; customerId: string }): Answer {
  assert(
    outcome.kind !== "answered" && outcome.kind !== "feature_not_found",
    "a request that changes a hold never has this outcome",
  );
  if (outcome.kind !== "hold_changed") throw toProblem(outcome);
  const { text, replayed: isReplay, reason } = outcome;
  return { text: `${JSON.stringify(named).slice(0, -1)},${text.slice(1)}`, isReplay, reason };
}

export function toCheckAnswer(
  outcome: Exclude<CheckOutcome, { kind: "feature_not_found" }>,
  asked: Asked,
): Answer {
  if (outcome.kind !== "decided") throw toProblem(outcome);
  return { text: renderCheck(outcome, asked), isReplay: false, reason: outcome.reason };
}

export function replyWithAnswer(
  reply: FastifyReply,
  { text, isReplay, reason, counts }: Answer,
): FastifyReply {
  if (isReplay) reply.header("idempotent-replayed", "true");
  reply.denialReason = reason;
  if (counts !== undefined) reply.batchCounts = counts;
  return reply.header("content-type", "application/json; charset=utf-8").send(text);
}

function render(answer: StoredAnswer, asked: Asked | null): string {
  try {
    return renderAnswer(answer, asked);
  } catch (error) {
    if (!(error instanceof UnknownAnswerFormat)) throw error;
    throw new Problem("unavailable", {
      detail: "This response was stored by a newer release that is being rolled out. Try again.",
      retryAfterSeconds: 1,
    });
  }
}

const HOLD_PROBLEMS: Readonly<Record<HoldProblem, string>> = {
  hold_not_found: "This customer has no hold with this ID.",
  hold_settled: "The hold was settled by another request, or charged when it expired. Nothing was changed.",
  hold_released: "The hold was released by another request. Nothing was changed.",
  hold_expired: "The hold has expired. Nothing was changed.",
  hold_items_mismatch:
    "`quantity` is only for a hold on one feature. Otherwise send `items`, with the hold's features. " +
    "Only a hold on one feature can be extended.",
  hold_too_long: "A hold lasts at most 7 days after it is opened.",
  too_many_holds: "A customer can have at most 1,000 open holds. Nothing was executed.",
};

export function toProblem(
  outcome: Exclude<Outcome, { kind: "answered" | "hold_changed" | "feature_not_found" }>,
): unknown {
  switch (outcome.kind) {
    case "hold_not_found":
    case "hold_settled":
    case "hold_released":
    case "hold_expired":
    case "hold_items_mismatch":
    case "hold_too_long":
    case "too_many_holds":
      return new Problem(outcome.kind, { detail: HOLD_PROBLEMS[outcome.kind] });
    case "key_reused":
      return new Problem("idempotency_key_reused", {
        detail: `This idempotency key was already used with another ${outcome.conflict}. Nothing was executed. Use a new key for a new request.`,
        extra: { conflict: outcome.conflict },
      });
    case "timestamp_out_of_range":
      return new Problem("timestamp_out_of_range", {
        detail: `\`timestamp\` must be between ${formatTimestamp(outcome.earliest)} and ${formatTimestamp(outcome.latest)}.`,
      });
    case "metadata_limit_exceeded":
      return new Problem("metadata_limit_exceeded", {
        detail: `\`metadata\` has ${outcome.actual} ${outcome.limit}, and the workspace allows ${outcome.max}.`,
        extra: { limit: outcome.limit, max: outcome.max, actual: outcome.actual },
      });
    case "upgrade_unfinished":
      return new Problem("upgrade_unfinished", {
        detail:
          "Holds, and requests with `items` or `memberId`, are not available until the Purser upgrade is finished with " +
          "`purser migrate --finish`. " +
          "Nothing was executed.",
      });
    case "overloaded":
      return new Problem("overloaded", {
        detail: "Nothing was executed. Try again shortly.",
        retryAfterSeconds: 1,
      });
    case "unavailable":
      return new Problem("unavailable", {
        detail: "Nothing was executed. Try again shortly.",
        retryAfterSeconds: 1,
      });
    case "outcome_unknown":
      return new Problem("outcome_unknown", {
        detail:
          "The request may or may not have been executed. With an idempotency key, or for a hold, it is safe to try again.",
        retryAfterSeconds: 1,
      });
    case "fault":
      return outcome.error;
    default:
      return assertNever(outcome);
  }
}
