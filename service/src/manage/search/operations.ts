import { Type } from "typebox";
import { single } from "../../postgres/transaction.ts";
import { listPlaces } from "../../store/control/places.ts";
import { readHistoryStart } from "../history-window.ts";
import {
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  placeOf,
  principalOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { Found } from "./found.ts";
import { searchPlaces } from "./search-places.ts";

const NOUN = "Search";

const DESCRIPTION =
  "Finds what was pasted or begun: customers by the beginning of id, name, email or billing reference; grants by their reference, a " +
  "payment's id say; idempotency keys; charges, denials and usage events by their id; plans and features by the beginning of their " +
  "key. At most 10 of each kind.";

const query = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "The text.",
      examples: ["pi_3MtwBwLkdIwHu7ix"],
    }),
  },
  { additionalProperties: false },
);

/** One box for everything that has a name. */
export function searchOperations({ control, cellOf }: ManageParts): Operation[] {
  const search = async (call: Call<unknown, { q: string }>, isReached: (id: number) => boolean) => {
    const { workspaceId } = principalOf(call);
    const places = await single(control, (tx) => listPlaces(tx, workspaceId));
    return searchPlaces(cellOf, {
      places: places.filter(({ environmentId }) => isReached(environmentId)),
      text: call.query.q,
      since: await readHistoryStart(control, workspaceId),
    });
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/search",
      access: { role: "viewer", in: "workspace" },
      id: "search",
      noun: NOUN,
      summary: "Search all projects",
      description: `${DESCRIPTION} Looks in both environments of all projects.`,
      query,
      answer: Found,
      codes: [],
      handle: async (call) => search(call, () => true),
    }),
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/search`,
      access: { role: "viewer", in: "environment" },
      id: "searchEnvironment",
      noun: NOUN,
      summary: "Search one environment",
      description: `${DESCRIPTION} Looks in this environment alone: for tokens that reach no further.`,
      params: Type.Object(environmentParams),
      query,
      answer: Found,
      codes: [],
      handle: async (call) => search(call, (id) => id === placeOf(call).environmentId),
    }),
  ];
}
