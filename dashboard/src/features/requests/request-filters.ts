import type { operations } from "../../api/manage.gen.d.ts";
import { describeProblem, describeReason, PROBLEMS } from "../../format/request-sentences.ts";

type Wanted = NonNullable<operations["listRequests"]["parameters"]["query"]>;

/** What the log is narrowed to; it stands in the address. */
export type RequestFilters = Pick<Wanted, "endpoint" | "status" | "code" | "reason" | "customerId">;

/** Also in the address: whether new ones are followed, and a dialog to begin with. */
type RequestsSearch = RequestFilters & { live?: true; do?: "try" };

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

type OutcomeFilter = Pick<RequestFilters, "status" | "code" | "reason">;

const REASONS = [
  "insufficient_credits",
  "limit_reached",
  "feature_not_in_plan",
  "no_active_plan",
  "customer_blocked",
  "customer_not_found",
];

const CLASSES = new Map([
  ["2xx", "Answered (2xx)"],
  ["4xx", "Refused (4xx)"],
  ["5xx", "Failed (5xx)"],
]);

/** A status, a reason and a problem's code are one question to people: how did it go? */
export function outcomeOptions({ status, code, reason }: OutcomeFilter): { value: string; label: string }[] {
  const statuses = withAlso([...CLASSES.keys()], status);
  return [
    { value: "", label: "Any outcome" },
    ...statuses.map((value) => ({
      value: `status ${value}`,
      label: CLASSES.get(value) ?? `Status ${value}`,
    })),
    ...withAlso(REASONS, reason).map((value) => ({
      value: `reason ${value}`,
      label: `Denied: ${describeReason(value)}`,
    })),
    ...withAlso([...PROBLEMS.keys()], code).map((value) => ({
      value: `code ${value}`,
      label: `Problem: ${describeProblem(value)}`,
    })),
  ];
}

/** Of several in an address the one that says most. */
export function writeOutcome({ status, code, reason }: OutcomeFilter): string {
  if (code !== undefined) return `code ${code}`;
  if (reason !== undefined) return `reason ${reason}`;
  return status === undefined ? "" : `status ${status}`;
}

export function readOutcome(option: string): OutcomeFilter {
  const [kind, value = ""] = option.split(" ");
  if (kind === "code") return { code: value };
  if (kind === "reason") return { reason: value };
  return kind === "status" ? { status: value } : {};
}

/** What an address asks for is on the list, too, whatever it is. */
function withAlso(known: readonly string[], asked: string | undefined): string[] {
  return asked === undefined || known.includes(asked) ? [...known] : [...known, asked];
}

type Line = { readonly id: string };

/**
 * The list and what came since, the newest first and each once: ids sort by time. A tail that is older than the end of the
 * list is left to the list's next page, or there would be a gap above it.
 */
export function mergeTail<Row extends Line>(
  tail: readonly Row[],
  list: { readonly rows: readonly Row[]; readonly hasMore: boolean },
): Row[] {
  const end = list.hasMore ? (list.rows.at(-1)?.id ?? "") : "";
  const known = new Set(list.rows.map(({ id }) => id));
  const fresh = tail.filter(({ id }) => !known.has(id) && id > end);
  return [...fresh, ...list.rows].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}
