import { describeProblem, describeReason, ENDPOINTS, PROBLEMS } from "../../format/request-sentences.ts";
import { choice, type SearchOf, searchOf, text } from "../../format/search.ts";
import { type RangeSearch, readRangeSearch } from "../../format/usage-range.ts";

const OUTCOME = {
  outcome: choice(["ok", "denied", "failed"]),
  status: text(3, /^[245](xx|\d\d)$/),
  code: text(60),
  reason: text(60),
};
const OF_CUSTOMER = { ...OUTCOME, feature: text(120) };
const FILTERS = { ...OF_CUSTOMER, endpoint: choice(ENDPOINTS), customerId: text() };

/** Log filters in the URL. */
export type RequestFilters = SearchOf<typeof FILTERS> & RangeSearch;

/** Filters of one customer's requests in the URL. */
export type CustomerRequestFilters = SearchOf<typeof OF_CUSTOMER> & RangeSearch;

const readOfCustomer = searchOf(OF_CUSTOMER);

export function readCustomerRequestFilters(search: Record<string, unknown>): CustomerRequestFilters {
  return { ...readOfCustomer(search), ...readRangeSearch(search, null) };
}

/** URL parameters: the filters, the live tail and an open dialog. */
type RequestsSearch = RequestFilters & { live?: true; do?: "try" };

const readOwn = searchOf({ ...FILTERS, live: choice([true]), do: choice(["try"]) });

export function readSearch(search: Record<string, unknown>): RequestsSearch {
  return { ...readOwn(search), ...readRangeSearch(search, null) };
}

export function filtersOf({ live: _live, do: _do, ...filters }: RequestsSearch): RequestFilters {
  return filters;
}

export type OutcomeFilter = SearchOf<typeof OUTCOME>;

/** Removes an outcome from the URL. */
export const NO_OUTCOME = { outcome: undefined, status: undefined, code: undefined, reason: undefined };

const REASONS = [
  "insufficient_credits",
  "limit_reached",
  "feature_not_in_plan",
  "no_active_plan",
  "customer_blocked",
  "customer_not_found",
];

const OUTCOMES = [
  { value: "outcome ok", label: "Successful" },
  { value: "outcome denied", label: "Denied" },
  { value: "outcome failed", label: "Rejected or failed" },
];

const CLASSES = new Map([
  ["4xx", "Rejected (4xx)"],
  ["5xx", "Failed (5xx)"],
]);

/** Outcome, status, reason and error code as one filter. */
export function outcomeOptions({
  status,
  code,
  reason,
}: OutcomeFilter): { value: string; label: string; group?: string }[] {
  const statuses = withAlso([...CLASSES.keys()], status);
  return [
    { value: "", label: "Any outcome" },
    ...OUTCOMES,
    ...statuses.map((value) => ({
      value: `status ${value}`,
      label: CLASSES.get(value) ?? `Status ${value}`,
    })),
    ...withAlso(REASONS, reason).map((value) => ({
      value: `reason ${value}`,
      label: `Denied: ${describeReason(value)}`,
      group: "Denied because",
    })),
    ...withAlso([...PROBLEMS.keys()], code).map((value) => ({
      value: `code ${value}`,
      label: `Error: ${describeProblem(value)}`,
      group: "Rejected or failed because",
    })),
  ];
}

/** The selected filter option. If the URL has several filters, the most specific filter is selected. */
export function writeOutcome({ outcome, status, code, reason }: OutcomeFilter): string {
  if (code !== undefined) return `code ${code}`;
  if (reason !== undefined) return `reason ${reason}`;
  if (status !== undefined) return `status ${status}`;
  return outcome === undefined ? "" : `outcome ${outcome}`;
}

export function readOutcome(option: string): OutcomeFilter {
  const [kind, value = ""] = option.split(" ");
  if (kind === "code") return { code: value };
  if (kind === "reason") return { reason: value };
  if (kind === "outcome") return readOutcomeName({ outcome: value });
  return kind === "status" ? { status: value } : {};
}

const readOutcomeName = searchOf({ outcome: OUTCOME.outcome });

/** Adds the value in the URL if it is not in the list. */
function withAlso(known: readonly string[], asked: string | undefined): string[] {
  return asked === undefined || known.includes(asked) ? [...known] : [...known, asked];
}

type Line = { readonly id: string };

/**
 * Merges the list and the tail, newest first and without duplicates. IDs sort by time. Tail rows older than the end of a partial list are
 * dropped, because they would hide a gap.
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
