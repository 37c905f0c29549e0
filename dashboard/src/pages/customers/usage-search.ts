import { readUsageSearch, type UsageSearch } from "../../words/usage-search.ts";

/** As on the page of all usage; only whose it is stands in the path. */
export type CustomerUsageSearch = Omit<UsageSearch, "customerId">;

export function readCustomerUsage(search: Record<string, unknown>): CustomerUsageSearch {
  const { customerId: _, groupBy, ...others } = readUsageSearch(search);
  return { ...others, ...(groupBy === undefined || groupBy === "customer" ? {} : { groupBy }) };
}
