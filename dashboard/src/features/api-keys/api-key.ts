import type { Body } from "../../api/answer.ts";
import type { ApiKey } from "./queries.ts";

type Scope = Body<"createApiKey">["scopes"][number];

export type KeyForm = { name: string; scopes: Record<Scope, boolean>; lasts: string };

export type RotateForm = { overlap: string; lasts: string };

export const SCOPES: readonly { scope: Scope; hint: string }[] = [
  { scope: "check", hint: "Check availability without charging." },
  { scope: "consume", hint: "Authorize and charge credits." },
  { scope: "events", hint: "Record usage without charging." },
  { scope: "reverse", hint: "Reverse charges from the last 35 days." },
];

export const LASTING = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];

export const OVERLAPS = [
  { value: "86400", label: "In 24 hours" },
  { value: "3600", label: "In 1 hour" },
  { value: "604800", label: "In 7 days" },
  { value: "0", label: "Immediately" },
];

export function toKeyBody({ name, scopes, lasts }: KeyForm, now: number): Body<"createApiKey"> {
  return {
    name: name.trim(),
    scopes: SCOPES.filter(({ scope }) => scopes[scope]).map(({ scope }) => scope),
    ...endOf(lasts, now),
  };
}

export function toRotateBody({ overlap, lasts }: RotateForm, now: number): Body<"rotateApiKey"> {
  return { overlapSeconds: Number(overlap), ...endOf(lasts, now) };
}

const DAY_MS = 86_400_000;

/** The expiry option closest to the old key's lifetime. It is the default for the new key. */
export function lastingOf({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }): string {
  if (expiresAt === null) return "";
  const days = (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;
  const limited = LASTING.map(({ value }) => value).filter((value) => value !== "");
  return limited.reduce((best, value) =>
    Math.abs(Number(value) - days) < Math.abs(Number(best) - days) ? value : best,
  );
}

function endOf(lasts: string, now: number): { expiresAt?: string } {
  return lasts === "" ? {} : { expiresAt: new Date(now + Number(lasts) * DAY_MS).toISOString() };
}

/** Warn early enough to replace a key everywhere. */
const SOON_MS = 14 * DAY_MS;

export type KeyState = "working" | "ending" | "expired" | "revoked";

export function stateOf({ isValid, revokedAt, expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return "revoked";
  if (!isValid) return "expired";
  return expiresAt !== null && Date.parse(expiresAt) - now < SOON_MS ? "ending" : "working";
}

export type ExpiringKey = {
  readonly key: ApiKey;
  /** The key that replaces this key. Null if there is none. */
  readonly successor: ApiKey | null;
  /** True if the key was used after its successor was created. */
  readonly isStillUsed: boolean;
};

/** Keys that expire soon, with their successors. A rotated key keeps its name and scopes. */
export function expiringKeysOf(keys: readonly ApiKey[], now: number): ExpiringKey[] {
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

/**
 * A complete curl call for a new key. Uses the call with the smallest effect that the scopes allow: check, then events, consume and
 * reverse. Without a feature, events comes before check.
 */
export function keyCall(
  { scopes }: Pick<ApiKey, "scopes">,
  { origin, secret, feature }: { origin: string; secret: string; feature: string | null },
): string {
  const asked = { customerId: "customer_42", feature: feature ?? "image.generate" };
  const idempotencyKey = "my-first-call";
  const [path, body] =
    scopes.includes("check") && (feature !== null || !scopes.includes("events"))
      ? ["check", asked]
      : scopes.includes("events")
        ? ["events", { customerId: "customer_42", event: "hello", quantity: 1, idempotencyKey }]
        : scopes.includes("consume")
          ? ["consume", { ...asked, idempotencyKey }]
          : ["consume/con_…/reverse", { customerId: "customer_42" }];
  return [
    `curl '${origin}/v1/${path}'`,
    `-H 'Authorization: Bearer ${secret}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ].join(" \\\n  ");
}
