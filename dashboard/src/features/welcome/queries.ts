import { queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Scope } from "../../api/answer.ts";
import { answerOf, api, queryOf } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";

type Request = Item<"listRequests">;
type Event = NonNullable<Answer<"readKey">["event"]>;

/** The latest accepted request with its stored event, and a rejected request that came later. */
export type Arrival = {
  readonly arrived: { readonly request: Request; readonly event: Event | null } | null;
  readonly refused: Request | null;
};

/** Poll interval. Requests are logged about a second after the response. */
const LOOK_MS = 1_500;

const REQUESTS_PATH = "/manage/v1/projects/{projectId}/{environment}/requests";

export function arrivalQuery(scope: Scope, endpoint: "events" | "consume") {
  const params = { path: scope, query: { endpoint, limit: "20" } };
  return queryOptions({
    queryKey: ["get", REQUESTS_PATH, params, "arrival"],
    queryFn: async (): Promise<Arrival> => {
      const { items } = await answerOf(api.GET(REQUESTS_PATH, { params }));
      const request = items.find(({ status }) => status < 400);
      const [newest] = items;
      return {
        arrived: request === undefined ? null : { request, event: await findEvent(scope, request) },
        refused: newest !== undefined && newest.status >= 400 ? newest : null,
      };
    },
    refetchInterval: LOOK_MS,
  });
}

async function findEvent(scope: Scope, { endpoint, idempotencyKey }: Request): Promise<Event | null> {
  if (endpoint !== "events" || idempotencyKey === null) return null;
  const { event } = await queryClient.ensureQueryData(
    queryOf("get", "/manage/v1/projects/{projectId}/{environment}/keys/{idempotencyKey}", {
      params: { path: { ...scope, idempotencyKey } },
    }),
  );
  return event;
}

/** Active features. */
export function featuresQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/features",
    { params: { path: scope, query: { archived: "false", limit: "50" } } },
    { select: ({ items }: Answer<"listFeatures">) => items },
  );
}
