import { type Call, type ClientRequest, claimedKey } from "../../history/call.ts";
import { keyHashOf } from "./key-hash.ts";

/** Who claimed which key, by what a stored row can know of it. */
export type SentKeys = {
  /** Null: never sent. */
  findRequest(marker: string | null): ClientRequest | null;
  /** Of the request that a marker names; null for one without a key and for one that was never sent. */
  findKey(marker: string | null): string | null;
  isClaimed(key: string): boolean;
  /** Carried by a check, which must ignore it, and claimed by nothing else. */
  isOnlyCarried(key: string): boolean;
  hashOf(key: string): string;
};

export function sentKeysOf(calls: readonly Call[]): SentKeys {
  const requestOf = new Map(calls.map(({ request }) => [request.marker, request]));
  const requests = [...requestOf.values()];
  const claimed = new Set(requests.map(claimedKey));
  const carried = new Set(requests.map(({ key }) => key));
  const hashes = new Map<string, string>();
  const findRequest = (marker: string | null): ClientRequest | null => requestOf.get(marker ?? "") ?? null;
  return {
    findRequest,
    findKey: (marker) => {
      const request = findRequest(marker);
      return request === null ? null : claimedKey(request);
    },
    isClaimed: (key) => claimed.has(key),
    isOnlyCarried: (key) => carried.has(key) && !claimed.has(key),
    hashOf: (key) => {
      const hash = hashes.get(key) ?? keyHashOf(key);
      hashes.set(key, hash);
      return hash;
    },
  };
}
