import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiProblem } from "./api-problem.ts";

/** Called when the API reports an expired session. Set by main.tsx, which owns the router. */
let handleExpired: () => void = () => {};

export function onSessionExpired(act: () => void): void {
  handleExpired = act;
}

function watch(error: Error): void {
  if (error instanceof ApiProblem && error.code === "sign_in_required") handleExpired();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: watch }),
  mutationCache: new MutationCache({ onError: watch }),
  defaultOptions: {
    queries: {
      // Send requests even if the browser reports that it is offline, because the service often runs on localhost.
      networkMode: "always",
      // Going back shows cached data and refetches in the background.
      staleTime: 5_000,
      // Retrying does not fix a 4xx.
      retry: (failures, error) => !(error instanceof ApiProblem && error.status < 500) && failures < 2,
    },
    // Never retry or postpone writes automatically, because they can add or charge credits. gcTime 0 drops the response, which may hold a
    // secret, when its form closes.
    mutations: { networkMode: "always", retry: false, gcTime: 0 },
  },
});

/** Callbacks that clear page state kept outside the query cache. */
const cleaners = new Set<() => void>();

/** Registers a callback that clears private state on logout. */
export function onClearUserData(forget: () => void): void {
  cleaners.add(forget);
}

/** Clears all data from the previous user, on login and logout. */
export function clearUserData(): void {
  queryClient.clear();
  for (const forget of cleaners) forget();
}
