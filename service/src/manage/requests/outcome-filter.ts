import { Type } from "typebox";

/** Query parameters that select requests by their outcome. */
export const outcomeQuery = {
  outcome: Type.Optional(
    Type.Enum(["ok", "denied", "failed"], {
      description: "`denied`: denied for any reason. `failed`: status 4xx or 5xx. `ok`: all other requests.",
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: "^([245]xx|[245]\\d\\d)$",
      description: "One status, such as `409`, or a class, such as `4xx`.",
      examples: ["4xx"],
    }),
  ),
  code: Type.Optional(Type.String({ maxLength: 60, examples: ["idempotency_key_reused"] })),
  reason: Type.Optional(Type.String({ maxLength: 60, examples: ["insufficient_credits"] })),
};

export type OutcomeFilter = {
  readonly outcome: "ok" | "denied" | "failed" | null;
  /** One status, or a class such as 4xx. */
  readonly status: { readonly from: number; readonly below: number } | null;
  readonly code: string | null;
  readonly reason: string | null;
};

export function readOutcomeFilter(query: {
  readonly outcome?: "ok" | "denied" | "failed";
  readonly status?: string;
  readonly code?: string;
  readonly reason?: string;
}): OutcomeFilter {
  const { outcome = null, status, code = null, reason = null } = query;
  return { outcome, status: status === undefined ? null : readStatus(status), code, reason };
}

function readStatus(text: string): { from: number; below: number } {
  const from = Number(text.replace("xx", "00"));
  return { from, below: text.endsWith("xx") ? from + 100 : from + 1 };
}

type Request = { readonly status: number; readonly code: string | null; readonly reason: string | null };

export function hasOutcome(request: Request, { outcome, status, code, reason }: OutcomeFilter): boolean {
  return (
    (outcome === null || outcomeOf(request) === outcome) &&
    (status === null || (request.status >= status.from && request.status < status.below)) &&
    (code === null || request.code === code) &&
    (reason === null || request.reason === reason)
  );
}

function outcomeOf({ status, reason }: Request): "ok" | "denied" | "failed" {
  return reason !== null ? "denied" : status < 400 ? "ok" : "failed";
}
