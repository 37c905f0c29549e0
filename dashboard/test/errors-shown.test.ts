import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { rejectDotSegments } from "../src/api/reject-dot-segments.ts";
import { unexplainedCredits } from "../src/features/credits/grants.ts";
import { assertNoConflict } from "../src/features/customers/edit-conflict.ts";
import type { Customer } from "../src/features/customers/queries.ts";
import type { Grant } from "../src/features/ledger/queries.ts";
import { findStale } from "../src/frame/find-stale.ts";

/** A query function that succeeds once, then fails. */
function failsLater<T>(answer: T): () => Promise<T> {
  let asked = 0;
  return async () => {
    asked += 1;
    if (asked > 1) throw new Error("out of reach");
    return answer;
  };
}

test("findStale returns the time of the last successful load if visible data fails to refresh", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const options = { queryKey: ["customer"], queryFn: failsLater("ada") };
  const observer = new QueryObserver(client, options);
  const leave = observer.subscribe(() => {});
  await observer.refetch();
  const { dataUpdatedAt } = observer.getCurrentResult();
  expect(findStale(client.getQueryCache())).toBe(null);
  await observer.refetch();
  expect(findStale(client.getQueryCache())).toBe(dataUpdatedAt);
  leave();
  expect(findStale(client.getQueryCache())).toBe(null);
});

test("findStale ignores failed next pages and queries that show their own errors", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const told = new QueryObserver(client, {
    queryKey: ["summary"],
    queryFn: failsLater(1),
    meta: { showsOwnErrors: true },
  });
  const list = new InfiniteQueryObserver(client, {
    queryKey: ["customers"],
    queryFn: failsLater("page"),
    initialPageParam: 0,
    getNextPageParam: () => 1,
  });
  told.subscribe(() => {});
  list.subscribe(() => {});
  await Promise.all([told.refetch(), list.refetch()]);
  await Promise.all([told.refetch(), list.fetchNextPage()]);
  expect([told.getCurrentResult().isError, list.getCurrentResult().isFetchNextPageError]).toEqual([
    true,
    true,
  ]);
  expect(findStale(client.getQueryCache())).toBe(null);
});

test("credits missing from the loaded grants are explained by a new period or by older grants", () => {
  const grants = [{ pool: "credits", remaining: 30 } as Grant];
  const balances = [
    { pool: "credits", balance: 130 },
    { pool: "video", balance: 0 },
  ];
  expect(unexplainedCredits(balances, { grants, isAll: true })).toEqual([
    { pool: "credits", credits: 100, why: expect.stringMatching(/^from the new period/) },
  ]);
  expect(unexplainedCredits(balances, { grants, isAll: false })).toEqual([
    { pool: "credits", credits: 100, why: expect.stringMatching(/^from older grants/) },
  ]);
});

test("creating or editing a customer never overwrites a concurrent change", () => {
  const seen = { customerId: "ada", name: "Ada", metadata: { seats: 3 } } as unknown as Customer;
  const changed = { ...seen, metadata: { seats: 4 } };
  // A changed balance is not a conflict, because the form has no balances.
  const spent: Customer = { ...seen, balances: [{ pool: "credits", balance: 7, held: 0, overage: null }] };
  expect(() => assertNoConflict(seen, spent)).not.toThrow();
  expect(() => assertNoConflict(null, null)).not.toThrow();
  expect(() => assertNoConflict(null, seen)).toThrow("Ada has this ID");
  expect(() => assertNoConflict(seen, changed)).toThrow("Nothing was saved");
  expect(() => assertNoConflict(seen, null)).toThrow("Nothing was saved");
});

test.each([".", ".."])("the customer ID %s is never sent as a path segment", (customerId) => {
  expect(
    new URL(`/customers/${encodeURIComponent(customerId)}/plan`, "http://purser").pathname,
  ).not.toContain(`/${customerId}/`);
  expect(() => rejectDotSegments({ projectId: "1", customerId })).toThrow("No request was sent");
  expect(() => rejectDotSegments({ projectId: "1", customerId: `${customerId}a` })).not.toThrow();
});
