import { queryOptions } from "@tanstack/react-query";
import { type Answer, type Scope, scopeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { pagesOf, readList } from "../../api/lists.ts";
import { choice, type SearchOf, searchOf, text, whole } from "../../format/search.ts";
import { readUsageSearch, type UsageSearch } from "../../format/usage-search.ts";

export type Customer = Answer<"readCustomer">;

export type CustomerScope = Scope & { readonly customerId: string };

/** Keeps filter values of any length. The API rejects long values; dropping the filter here would select too many customers. */
const narrowing = text(Number.POSITIVE_INFINITY);
const FILTERS = {
  search: narrowing,
  plan: narrowing,
  blocked: choice([true, false]),
  balanceBelow: whole(),
  sort: choice(["newest", "oldest", "name_asc", "name_desc", "balance_asc", "balance_desc"]),
  /** Opens the dialog that creates a customer. */
  do: choice(["create"]),
};

/** List filters in the URL. */
export type CustomerFilters = SearchOf<typeof FILTERS>;
export const readFilters = searchOf(FILTERS);

/** Dialog that a link from another page opens. */
export type LinkedDialog = "add-credits" | "assign-plan" | "edit-overrides" | "edit-alerts" | "unblock";
export const readLinkedDialog = searchOf({
  do: choice<LinkedDialog>(["add-credits", "assign-plan", "edit-overrides", "edit-alerts", "unblock"]),
});

/** Search parameters of the usage page, without the customer, because the path contains the customer ID. */
export function readCustomerUsage(search: Record<string, unknown>): Omit<UsageSearch, "customerId"> {
  const { customerId: _, groupBy, ...others } = readUsageSearch(search);
  return { ...others, ...(groupBy === undefined || groupBy === "customer" ? {} : { groupBy }) };
}

const CUSTOMERS_PATH = "/manage/v1/projects/{projectId}/{environment}/customers";

function customersRequest(scope: Scope, { blocked, balanceBelow, do: _, ...filters }: CustomerFilters) {
  const query = {
    ...filters,
    ...(blocked === undefined ? {} : { blocked: blocked ? ("true" as const) : ("false" as const) }),
    ...(balanceBelow === undefined ? {} : { balanceBelow: String(balanceBelow) }),
  };
  return { params: { path: scopeOf(scope), query } };
}

export function customersQuery(scope: Scope, filters: CustomerFilters) {
  return pagesOf(CUSTOMERS_PATH, customersRequest(scope, filters));
}

/** When sorted by balance, the list has only the newest customers, and a customer whose balance changes can move to another page. */
export function isByBalance({ sort = "newest" }: CustomerFilters): boolean {
  return sort === "balance_asc" || sort === "balance_desc";
}

/** Reads all customers that match the filters, page by page. Null if more than `max` customers match. */
export async function readCustomers(
  scope: Scope,
  filters: CustomerFilters,
  { max = Number.POSITIVE_INFINITY, onRead }: { max?: number; onRead: (count: number) => void },
): Promise<Customer[] | null> {
  const isSortedHere = isByBalance(filters);
  const isAscending = filters.sort === "balance_asc";
  // The API sorts customers with equal balances in this order.
  const readable = isSortedHere
    ? ({ ...filters, sort: isAscending ? "oldest" : "newest" } as const)
    : filters;
  const { items, isWhole } = await readList(
    CUSTOMERS_PATH,
    customersRequest(scope, readable),
    undefined,
    (count) => {
      onRead(count);
      return count <= max;
    },
  );
  if (!isWhole || items.length > max) return null;
  if (isSortedHere) items.sort((a, b) => (totalOf(a) - totalOf(b)) * (isAscending ? 1 : -1));
  return items;
}

function totalOf({ balances }: Customer): number {
  return balances.reduce((sum, { balance }) => sum + balance, 0);
}

export function customerScopeOf({ projectId, environment, customerId }: CustomerScope): CustomerScope {
  return { projectId, environment, customerId };
}

export function customerQuery(customerScope: CustomerScope) {
  return queryOf("get", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    params: { path: customerScopeOf(customerScope) },
  });
}

/** The notices about one customer. */
export function noticesQuery({ customerId, ...scope }: CustomerScope) {
  const params = { path: scopeOf(scope), query: { customerId } };
  return pagesOf("/manage/v1/projects/{projectId}/{environment}/notices", { params });
}

export function proofQuery(customerScope: CustomerScope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/proof",
    { params: { path: customerScopeOf(customerScope) } },
    // Reads the whole ledger, so cache the result.
    { staleTime: 60_000, retry: false, meta: { showsOwnErrors: true } },
  );
}

/** Ledger entries for the balance chart, newest first. */
export function latestEntriesQuery(customerScope: CustomerScope) {
  return queryOf("get", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/ledger", {
    params: { path: customerScopeOf(customerScope), query: { limit: "200" } },
  });
}

export type PlanVersion = Answer<"readPlan">["versions"][number];

/** Terms of a plan version; null if the version is not found. */
export function planVersionQuery(scope: Scope, { key, version }: { key: string; version: number }) {
  return queryOptions({
    ...queryOf("get", "/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
      params: { path: { ...scopeOf(scope), key }, query: { before: String(version + 1) } },
    }),
    select: ({ versions }): PlanVersion | null => versions.find(({ number }) => number === version) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function nameOf({ name, customerId }: Pick<Customer, "name" | "customerId">): string {
  return name ?? customerId;
}
