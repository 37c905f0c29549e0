import type { ApiKey } from "./queries.ts";

const DAY_MS = 86_400_000;
/** Time enough to roll a key over in every place that has it. */
const SOON_MS = 14 * DAY_MS;

export type KeyState = "working" | "ending" | "expired" | "revoked";

export function stateOf({ isValid, revokedAt, expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return "revoked";
  if (!isValid) return "expired";
  return expiresAt !== null && Date.parse(expiresAt) - now < SOON_MS ? "ending" : "working";
}

export type EndingKey = {
  readonly key: ApiKey;
  /** The one that took its place, if any. */
  readonly successor: ApiKey | null;
  /** It was called with after there was another: somebody has not changed over. */
  readonly isStillUsed: boolean;
};

/** What ends soon, and whether anything goes on instead of it. A rotated key keeps its name and scopes. */
export function endingKeysOf(keys: readonly ApiKey[], now: number): EndingKey[] {
  return keys
    .filter((key) => stateOf(key, now) === "ending")
    .map((key) => {
      const successor = keys.find((other) => isSuccessor(other, key, now)) ?? null;
      const isStillUsed =
        successor !== null && key.lastUsedAt !== null && key.lastUsedAt > successor.createdAt;
      return { key, successor, isStillUsed };
    });
}

function isSuccessor(other: ApiKey, key: ApiKey, now: number): boolean {
  return (
    other.name === key.name &&
    other.createdAt > key.createdAt &&
    stateOf(other, now) === "working" &&
    key.scopes.every((scope) => other.scopes.includes(scope))
  );
}
