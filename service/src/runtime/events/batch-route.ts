import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { internalError, refuseInvalid } from "../../edge/errors.ts";
import { PROBLEMS, Problem, renderProblem } from "../../edge/problem.ts";
import { assert } from "../../primitives/assert.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { EventRequest, Outcome } from "../commit/request.ts";
import { type Answer, toAnswer } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";
import { toEventRequest } from "./read-event.ts";
import { BatchAnswer, BatchBody, BatchEvent, DescribedBatch, type EventBody } from "./schema.ts";

const BODY_BYTES_MAX = 1024 * 1024;
/** Number of events read in one turn of the event loop, so that other requests do not wait for a whole batch. */
const EVENTS_PER_TURN = 100;

type BatchParts = { readonly lanesOf: (cell: string) => Lanes; readonly publicUrl: string | null };

/** The result of an event: its response, or the error that a request with this event alone would get. */
type Result = { readonly answer: Answer } | { readonly error: unknown };

/** Records many events, each with its own result. */
export function batchRoute({ lanesOf, publicUrl }: BatchParts) {
  return runtimeRoute({
    path: "/v1/events/batch",
    scope: "events",
    operationId: "recordEvents",
    summary: "Record up to 1,000 events",
    description:
      "Stores each event like `POST /v1/events`. Both endpoints share idempotency keys. A rejected event does not affect the other " +
      "events: the response is 200, with a result for each event in order. All accepted events are stored before the response is sent. " +
      "If every event fails with status 500 or 503, the response is that error. " +
      "It is always safe to send the same batch again. The body can be up to 1 MiB. Each event counts against the rate limit.",
    body: BatchBody,
    bodyBytesMax: BODY_BYTES_MAX,
    describedBody: DescribedBatch,
    answer: { description: "A result for each event, in order.", ...BatchAnswer },
    codes: ["outcome_unknown"],
    handle: async (caller, { body }, request) => {
      const read = await readEvents(caller, body.events, request);
      const accepted = read.filter((event) => "endpoint" in event);
      const outcomes = (await lanesOf(caller.key.cell).submitBatch(accepted)).values();
      const results = read.map((event) => ("endpoint" in event ? toResult(outcomes.next().value) : event));
      refuseIfNoneWasDecided(results);
      return renderResults(results, { request, publicUrl });
    },
  });
}

/** The number of events in a validated body. */
export function countEvents(body: unknown): number {
  return (body as BatchBody).events.length;
}

/** Converts events to requests for the lane. An invalid event becomes a result with its error. */
async function readEvents(
  caller: Asking,
  events: readonly unknown[],
  request: FastifyRequest,
): Promise<(EventRequest | Result)[]> {
  const read: (EventRequest | Result)[] = [];
  // A span records one step at a time, so only the last event, which is committed last, gets the span.
  const asking = { ...caller, span: null };
  for (const [index, event] of events.entries()) {
    if (index > 0 && index % EVENTS_PER_TURN === 0) await nextTurn();
    try {
      refuseInvalid(request, BatchEvent, event);
      read.push(toEventRequest(index === events.length - 1 ? caller : asking, event as EventBody));
    } catch (error) {
      read.push({ error });
    }
  }
  return read;
}

function toResult(outcome: Outcome | undefined): Result {
  assert(outcome !== undefined && outcome.kind !== "feature_not_found", "every event has an outcome");
  try {
    return { answer: toAnswer(outcome, null) };
  } catch (error) {
    return { error };
  }
}

/**
 * If Purser decided none of the events, the whole request fails, as with a single event. Clients then retry the batch without
 * reading results. An unknown outcome takes precedence, because the other errors state that nothing was executed.
 */
function refuseIfNoneWasDecided(results: readonly Result[]): void {
  const errors = results.flatMap((result) => ("error" in result ? [result.error] : []));
  if (errors.length < results.length) return;
  if (errors.some((error) => error instanceof Problem && PROBLEMS[error.code].status < 500)) return;
  throw errors.find((error) => error instanceof Problem && error.code === "outcome_unknown") ?? errors[0];
}

function renderResults(
  results: readonly Result[],
  { request, publicUrl }: { request: FastifyRequest; publicUrl: string | null },
): Answer {
  const counts = { accepted: 0, replayed: 0, rejected: 0 };
  const texts = results.map((result) => {
    if ("answer" in result) {
      const { text, isReplay } = result.answer;
      counts[isReplay ? "replayed" : "accepted"] += 1;
      return `${text.slice(0, -1)},"replayed":${isReplay}}`;
    }
    counts.rejected += 1;
    const { id: requestId, log } = request;
    if (!(result.error instanceof Problem)) log.error({ err: result.error, requestId }, "request failed");
    const problem = result.error instanceof Problem ? result.error : internalError();
    return `{"accepted":false,"error":${renderProblem(problem, { requestId, publicUrl })}}`;
  });
  return { text: `{"results":[${texts.join(",")}]}`, isReplay: false, reason: null, counts };
}
