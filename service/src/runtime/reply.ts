import type { FastifyReply } from "fastify";
import { Problem } from "../edge/problem.ts";
import { type Asked, renderAnswer, renderCheck, UnknownAnswerFormat } from "../entitlement/answer.ts";
import type { StoredAnswer } from "../entitlement/stored-answer.ts";
import { assertNever } from "../primitives/assert.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { CheckOutcome } from "./check/reader.ts";
import type { Outcome } from "./commit/request.ts";

/** The response's body, and what the request log records about it. */
export type Answer = {
  readonly text: string;
  readonly isReplay: boolean;
  /** Null unless denied. */
  readonly reason: string | null;
};

/** Turns an outcome into a response, or throws its problem. */
export function toAnswer(
  outcome: Exclude<Outcome, { kind: "feature_not_found" }>,
  asked: Asked | null,
): Answer {
  if (outcome.kind !== "answered") throw toProblem(outcome);
  const { answer, replayed: isReplay } = outcome;
  return { text: render(answer, asked), isReplay, reason: answer.verdict?.reason ?? null };
}

export function toCheckAnswer(
  outcome: Exclude<CheckOutcome, { kind: "feature_not_found" }>,
  asked: Asked,
): Answer {
  if (outcome.kind !== "decided") throw toProblem(outcome);
  return { text: renderCheck(outcome, asked), isReplay: false, reason: outcome.reason };
}

export function replyWithAnswer(reply: FastifyReply, { text, isReplay, reason }: Answer): FastifyReply {
  if (isReplay) reply.header("idempotent-replayed", "true");
  reply.denialReason = reason;
  return reply.header("content-type", "application/json; charset=utf-8").send(text);
}

function render(answer: StoredAnswer, asked: Asked | null): string {
  try {
    return renderAnswer(answer, asked);
  } catch (error) {
    if (!(error instanceof UnknownAnswerFormat)) throw error;
    throw new Problem("unavailable", {
      detail: "This answer was stored by a newer release that is being rolled out. Try again.",
      retryAfterSeconds: 1,
    });
  }
}

function toProblem(outcome: Exclude<Outcome, { kind: "answered" | "feature_not_found" }>): unknown {
  switch (outcome.kind) {
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
          "Requests with `items` or `memberId` are executed once the upgrade of Purser is finished with `purser migrate --finish`. " +
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
          "The request may or may not have been executed. With an idempotency key it is safe to try again.",
        retryAfterSeconds: 1,
      });
    case "fault":
      return outcome.error;
    default:
      return assertNever(outcome);
  }
}
