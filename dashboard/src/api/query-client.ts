import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiProblem } from "./api-problem.ts";

/** Called when a session ended while somebody worked: whoever opens the app says where to go. */
let onSignedOut: () => void = () => {};

export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

function watch(error: Error): void {
  if (error instanceof ApiProblem && error.code === "sign_in_required") onSignedOut();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: watch }),
  mutationCache: new MutationCache({ onError: watch }),
  defaultOptions: {
    queries: {
      // Asked at once, whatever the browser thinks of the network: what cannot be reached is said, and is often on this machine.
      networkMode: "always",
      // Going back shows what was there, and asks again behind it.
      staleTime: 5_000,
      // A caller's mistake does not mend itself by asking again.
      retry: (failures, error) => !(error instanceof ApiProblem && error.status < 500) && failures < 2,
    },
    // Money moves here. Nothing is done by itself: not again, and not later, when the network is back and the form long closed.
    // What an answer held, a secret maybe, is forgotten with its form.
    mutations: { networkMode: "always", retry: false, gcTime: 0 },
  },
});

/** Page state kept next to the API's answers. */
const keepers = new Set<() => void>();

/** Says how something is forgotten that nobody else may see. */
export function whenSomebodyLeaves(forget: () => void): void {
  keepers.add(forget);
}

/** From here on it is somebody else's view: nothing that was read before may be shown, or go on. */
export function forgetEverything(): void {
  queryClient.clear();
  for (const forget of keepers) forget();
}
