import { assert } from "../../primitives/assert.ts";
import type { Lanes } from "../commit/lanes.ts";
import { toAnswer } from "../reply.ts";
import { runtimeRoute } from "../runtime-route.ts";
import { toEventRequest } from "./read-event.ts";
import { EVENT_CODES, EventAnswer, EventBody } from "./schema.ts";

/** Records usage without charging credits. */
export function eventsRoute(lanesOf: (cell: string) => Lanes) {
  return runtimeRoute({
    path: "/v1/events",
    scope: "events",
    operationId: "recordEvent",
    summary: "Record usage without charging credits",
    description:
      "Stores one usage event for reporting. An event does not change a balance, and the response does not show whether the customer " +
      "is entitled. The event is stored before the response is sent.",
    body: EventBody,
    answer: { description: "The event is stored.", ...EventAnswer },
    codes: EVENT_CODES,
    handle: async (caller, { body }) => {
      const outcome = await lanesOf(caller.key.cell).submit(toEventRequest(caller, body));
      assert(outcome.kind !== "feature_not_found", "an event names no feature");
      return toAnswer(outcome, null);
    },
  });
}
