import { queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";

type Request = Item<"listRequests">;
type Event = NonNullable<Answer<"readKey">["event"]>;

/** The latest event, with what is stored of it where a key leads there; and what was refused since. */
export type Arrival = {
  readonly arrived: { readonly request: Request; readonly event: Event | null } | null;
  readonly refused: Request | null;
};

/** How often the page looks. The log is written about a second after the answer. */
const LOOK_MS = 1_500;

export function arrivalQuery(place: Place, endpoint: "events" | "consume") {
  return queryOptions({
    queryKey: ["requests", place, "arrival", endpoint],
    queryFn: async (): Promise<Arrival> => {
      const { items } = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/requests", {
          params: { path: place, query: { endpoint, limit: "20" } },
        }),
      );
      const request = items.find(({ status }) => status < 400);
      const [newest] = items;
      return {
        arrived: request === undefined ? null : { request, event: await findEvent(place, request) },
        refused: newest !== undefined && newest.status >= 400 ? newest : null,
      };
    },
    refetchInterval: LOOK_MS,
  });
}

async function findEvent(place: Place, { endpoint, idempotencyKey }: Request): Promise<Event | null> {
  if (endpoint !== "events" || idempotencyKey === null) return null;
  const { event } = await queryClient.ensureQueryData({
    queryKey: ["key", place, idempotencyKey, "event"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/keys/{idempotencyKey}", {
          params: { path: { ...place, idempotencyKey } },
        }),
      ),
  });
  return event;
}

/** What can be charged for. */
export function featuresQuery(place: Place) {
  return queryOptions({
    queryKey: ["features", place, "offered"],
    queryFn: async () =>
      (
        await answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/features", {
            params: { path: place, query: { archived: "false", limit: "50" } },
          }),
        )
      ).items,
  });
}
