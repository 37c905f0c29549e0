import { queryClient } from "./query-client.ts";

/** What pages keep besides the answers of the API. */
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
