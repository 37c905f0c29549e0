import { queryOptions } from "@tanstack/react-query";
import { type Answer, type Place, placeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";
import { choice, type SearchOf, searchOf, text, whole } from "../../format/search.ts";
import { readUsageSearch, type UsageSearch } from "../../format/usage-search.ts";

export type Customer = Answer<"readCustomer">;

export type Whose = Place & { readonly customerId: string };

/** A bulk assignment takes these: one that is too long is for the API to refuse, never to be left out. */
const narrowing = text(Number.POSITIVE_INFINITY);
const FILTERS = { search: narrowing, plan: narrowing, blocked: choice([true, false]), balanceBelow: whole() };

/** What the list is narrowed to; it stands in the address. */
export type CustomerFilters = SearchOf<typeof FILTERS>;
export const readFilters = searchOf(FILTERS);

/** What a link from another page wants done here: its dialog is open when the page is there. */
export type AskedFor = "add-credits" | "assign-plan" | "unblock";
export const readAskedFor = searchOf({ do: choice<AskedFor>(["add-credits", "assign-plan", "unblock"]) });

/** As on the page of all usage; only whose it is stands in the path. */
export function readCustomerUsage(search: Record<string, unknown>): Omit<UsageSearch, "customerId"> {
  const { customerId: _, groupBy, ...others } = readUsageSearch(search);
  return { ...others, ...(groupBy === undefined || groupBy === "customer" ? {} : { groupBy }) };
}

export function customersQuery(place: Place, { blocked, balanceBelow, ...filters }: CustomerFilters) {
  const query = {
    ...filters,
    ...(blocked === undefined ? {} : { blocked: blocked ? ("true" as const) : ("false" as const) }),
    ...(balanceBelow === undefined ? {} : { balanceBelow: String(balanceBelow) }),
  };
  return pagesOf("/manage/v1/projects/{projectId}/{environment}/customers", {
    params: { path: placeOf(place), query },
  });
}

export function whoseOf({ projectId, environment, customerId }: Whose): Whose {
  return { projectId, environment, customerId };
}

export function customerQuery(whose: Whose) {
  return queryOf("get", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    params: { path: whoseOf(whose) },
  });
}

export function proofQuery(whose: Whose) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/proof",
    { params: { path: whoseOf(whose) } },
    // It reads the whole ledger: once is enough while nothing was written here.
    { staleTime: 60_000, retry: false, meta: { tellsFailures: true } },
  );
}

/** The changes of the balance that a chart can show, the newest first. */
export function latestEntriesQuery(whose: Whose) {
  return queryOf("get", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/ledger", {
    params: { path: whoseOf(whose), query: { limit: "200" } },
  });
}

export type PlanVersion = Answer<"readPlan">["versions"][number];

/** What a customer's plan gives, as of the version they have; null: it is not known any more. */
export function planVersionQuery(place: Place, { key, version }: { key: string; version: number }) {
  return queryOptions({
    ...queryOf("get", "/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
      params: { path: { ...placeOf(place), key }, query: { before: String(version + 1) } },
    }),
    select: ({ versions }): PlanVersion | null => versions.find(({ number }) => number === version) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
