import type { Call, ClientRequest } from "../history/call.ts";
import type { Stored } from "./stored.ts";
import type { Invariant, Violation } from "./violation.ts";

/** What is stored for a request is what it asked for, whether or not anybody heard of it. */
export function checkContents(calls: readonly Call[], stored: Stored): Violation[] {
  const requestOf = new Map(calls.map(({ request }) => [request.marker, request]));
  const customerIdOf = new Map(stored.customers.map(({ number, customerId }) => [number, customerId]));
  const compare = (invariant: Invariant, marker: string | null, row: Content): Violation[] => {
    const request = requestOf.get(marker ?? "");
    if (request === undefined) return [];
    const differences = listDifferences(row, contentOf(request));
    if (differences.length === 0) return [];
    return [{ invariant, text: `${marker} is stored with ${differences.join(", ")}` }];
  };
  return [
    ...stored.events.flatMap(({ marker, customerId, event, quantity }) =>
      compare("I6", marker, { customerId, name: event, quantity }),
    ),
    ...stored.ledger.flatMap(({ marker, customer, feature, quantity }) =>
      compare("I1", marker, { customerId: customerIdOf.get(customer) ?? null, name: feature, quantity }),
    ),
    ...stored.denials.flatMap(({ marker, customer, feature, quantity }) =>
      compare("I4", marker, { customerId: customerIdOf.get(customer) ?? null, name: feature, quantity }),
    ),
  ];
}

/** `name` is the event's or the feature's key. */
type Content = {
  readonly customerId: string | null;
  readonly name: string | null;
  readonly quantity: number | null;
};

function contentOf(request: ClientRequest): Content {
  const { customerId, quantity } = request;
  return { customerId, quantity, name: request.endpoint === "events" ? request.event : request.feature };
}

function listDifferences(row: Content, asked: Content): string[] {
  return (["customerId", "name", "quantity"] as const)
    .filter((field) => row[field] !== asked[field])
    .map((field) => `${field} ${row[field]} instead of ${asked[field]}`);
}
