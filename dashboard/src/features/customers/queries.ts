import { queryOptions, useQueryClient } from "@tanstack/react-query";
import type { Answer, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";
import { readUsageSearch, type UsageSearch } from "../../format/usage-search.ts";
import { usePlace } from "../../frame/use-place.ts";

export type Customer = Answer<"readCustomer">;

/** What the list is narrowed to; it stands in the address. */
export type CustomerFilters = {
  search?: string;
  plan?: string;
  blocked?: boolean;
  balanceBelow?: number;
};

export function customersQuery({ projectId, environment }: Place, filters: CustomerFilters) {
  const place = { projectId, environment };
  return pagesOf(["customers", place, filters], (cursor) =>
    answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers", {
        params: { path: place, query: { ...toQuery(filters), ...cursor } },
      }),
    ),
  );
}

function toQuery({ blocked, balanceBelow, ...filters }: CustomerFilters) {
  return {
    ...filters,
    ...(blocked === undefined ? {} : { blocked: blocked ? ("true" as const) : ("false" as const) }),
    ...(balanceBelow === undefined ? {} : { balanceBelow: String(balanceBelow) }),
  };
}

/** All that is known about one customer hangs below this key: who writes invalidates it whole. */
export function customerKey({ projectId, environment }: Place, customerId: string) {
  return ["customer", { projectId, environment }, customerId] as const;
}

export function customerQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "profile"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
          params: { path: { projectId, environment, customerId } },
        }),
      ),
  });
}

export function proofQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "proof"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/proof", {
          params: { path: { projectId, environment, customerId } },
        }),
      ),
    // It reads the whole ledger: once is enough while nothing was written here.
    staleTime: 60_000,
    retry: false,
    meta: { tellsFailures: true },
  });
}

/** The changes of the balance that a chart can show, the newest first. */
export function latestEntriesQuery(place: Place, customerId: string) {
  const { projectId, environment } = place;
  return queryOptions({
    queryKey: [...customerKey(place, customerId), "latest entries"],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/ledger", {
          params: { path: { projectId, environment, customerId }, query: { limit: "200" } },
        }),
      ),
  });
}

export type PlanVersion = Answer<"readPlan">["versions"][number];

/** What a customer's plan gives, as of the version they have. */
export function planVersionQuery(
  { projectId, environment }: Place,
  { key, version }: { key: string; version: number },
) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["customers", place, "plan version", key, version],
    queryFn: async (): Promise<PlanVersion | null> => {
      const { versions } = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
          params: { path: { ...place, key }, query: { before: String(version + 1) } },
        }),
      );
      return versions.find(({ number }) => number === version) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What is sound of an address, or of what somebody entered; the rest is left out. */
export function readFilters(search: Record<string, unknown>): CustomerFilters {
  const text = (name: string): string => {
    const value = search[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const [wanted, plan, below, { blocked }] = [text("search"), text("plan"), text("balanceBelow"), search];
  return {
    ...(wanted === "" ? {} : { search: wanted }),
    ...(plan === "" ? {} : { plan }),
    ...(typeof blocked === "boolean" ? { blocked } : {}),
    ...(/^\d{1,15}$/.test(below) ? { balanceBelow: Number(below) } : {}),
  };
}

const ASKED = ["add-credits", "assign-plan", "unblock"] as const;

/** What a link from another page wants done here: its dialog is open when the page is there. */
export type AskedFor = (typeof ASKED)[number];

export function readAskedFor(search: Record<string, unknown>): { do?: AskedFor } {
  const asked = ASKED.find((known) => known === search["do"]);
  return asked === undefined ? {} : { do: asked };
}

/** As on the page of all usage; only whose it is stands in the path. */
type CustomerUsageSearch = Omit<UsageSearch, "customerId">;

export function readCustomerUsage(search: Record<string, unknown>): CustomerUsageSearch {
  const { customerId: _, groupBy, ...others } = readUsageSearch(search);
  return { ...others, ...(groupBy === undefined || groupBy === "customer" ? {} : { groupBy }) };
}

/** After a write: everything that is shown about the customer is asked for again, and so are the lists. */
export function useCustomerWritten(customerId: string): () => Promise<void> {
  const queryClient = useQueryClient();
  const { projectId, environment } = usePlace();
  return async () => {
    const place = { projectId, environment };
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: customerKey(place, customerId) }),
      queryClient.invalidateQueries({ queryKey: ["customers", place] }),
    ]);
  };
}
