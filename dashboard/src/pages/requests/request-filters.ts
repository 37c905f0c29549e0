import type { operations } from "../../api/manage.gen.d.ts";

type Wanted = NonNullable<operations["listRequests"]["parameters"]["query"]>;

/** What the log is narrowed to; it stands in the address. */
export type RequestFilters = Pick<Wanted, "endpoint" | "status" | "code" | "reason" | "customerId">;

/** Also in the address: whether new ones are followed, and a dialog to begin with. */
export type RequestsSearch = RequestFilters & { live?: true; do?: "try" };

const ENDPOINTS = ["check", "consume", "events"] as const;

export function readSearch(search: Record<string, unknown>): RequestsSearch {
  const [status, code, reason] = [text(search["status"], 3), text(search["code"]), text(search["reason"])];
  const customerId = text(search["customerId"], 255);
  const endpoint = ENDPOINTS.find((known) => known === search["endpoint"]);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(status === null || !/^[245](xx|\d\d)$/.test(status) ? {} : { status }),
    ...(code === null ? {} : { code }),
    ...(reason === null ? {} : { reason }),
    ...(customerId === null ? {} : { customerId }),
    ...(search["live"] === true ? { live: true as const } : {}),
    ...(search["do"] === "try" ? { do: "try" as const } : {}),
  };
}

export function filtersOf({ live: _live, do: _do, ...filters }: RequestsSearch): RequestFilters {
  return filters;
}

/** A number in the address comes as one: customers may be called 42. */
function text(value: unknown, lengthMax = 60): string | null {
  const said = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return said === "" || said.length > lengthMax ? null : said;
}
