import type { Call } from "../history/call.ts";
import type { Violation } from "./violation.ts";

/** Clients sent only requests whose possible answers are known: anything else is a broken promise. */
export function checkReplies(calls: readonly Call[]): Violation[] {
  return calls.flatMap((call): Violation[] => {
    const problem = findProblem(call);
    if (problem === null) return [];
    const { client, request, outcome } = call;
    const text = `${request.marker} of ${client} ${problem}: ${JSON.stringify(outcome)}`;
    return [{ invariant: "replies", text }];
  });
}

function findProblem({ request, outcome }: Call): string | null {
  switch (outcome.kind) {
    case "ok":
      return request.isTooOld ? "is too old, and was accepted" : null;
    case "fail":
      return isExpectedRefusal(request, outcome) ? null : "was refused without reason";
    case "info":
      // An outage has its own codes; any other 5xx is a fault nobody foresaw.
      return outcome.status === null || outcome.status === 503 ? null : "met a fault";
  }
}

function isExpectedRefusal(
  request: Call["request"],
  { status, code }: { status: number; code: string },
): boolean {
  if (request.isTooOld) return status === 422 && code === "timestamp_out_of_range";
  return request.key !== null && status === 409 && code === "idempotency_key_reused";
}
