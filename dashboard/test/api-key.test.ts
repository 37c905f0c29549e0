import { expect, test } from "vitest";
import {
  expiringKeysOf,
  keyCall,
  lastingOf,
  stateOf,
  toKeyBody,
  toRotateBody,
} from "../src/features/api-keys/api-key.ts";
import type { ApiKey } from "../src/features/api-keys/queries.ts";
import { nameOfCreator } from "../src/format/creator.ts";

const NOW = Date.parse("2026-11-15T12:00:00.000Z");

function key(id: string, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    name: "Backend",
    lastFour: "abcd",
    scopes: ["check", "consume"],
    createdAt: "2026-10-01T00:00:00.000Z",
    createdBy: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    isValid: true,
    ...changes,
  };
}

const IN_THREE_DAYS = "2026-11-18T12:00:00.000Z";

test("a key is active, expiring soon, expired or revoked", () => {
  expect(stateOf(key("1"), NOW)).toBe("working");
  expect(stateOf(key("1", { expiresAt: "2026-12-31T00:00:00.000Z" }), NOW)).toBe("working");
  expect(stateOf(key("1", { expiresAt: IN_THREE_DAYS }), NOW)).toBe("ending");
  expect(stateOf(key("1", { expiresAt: "2026-11-01T00:00:00.000Z", isValid: false }), NOW)).toBe("expired");
  expect(stateOf(key("1", { revokedAt: "2026-11-01T00:00:00.000Z", isValid: false }), NOW)).toBe("revoked");
});

test("an expiring key shows its successor, and whether the old key has been used since", () => {
  const old = key("1", { expiresAt: IN_THREE_DAYS });
  expect(expiringKeysOf([old], NOW)).toEqual([{ key: old, successor: null, isStillUsed: false }]);
  const next = key("2", { createdAt: "2026-11-15T09:00:00.000Z" });
  expect(expiringKeysOf([next, old], NOW)).toEqual([{ key: old, successor: next, isStillUsed: false }]);
  const used = { ...old, lastUsedAt: "2026-11-15T11:00:00.000Z" };
  expect(expiringKeysOf([next, used], NOW)[0]?.isStillUsed).toBe(true);
});

test("a key that has a different name, lacks a scope, expires soon or is older is not a successor", () => {
  const old = key("1", { expiresAt: IN_THREE_DAYS });
  const later = { createdAt: "2026-11-15T09:00:00.000Z" };
  for (const other of [
    key("2", { ...later, name: "Worker" }),
    key("2", { ...later, scopes: ["check"] }),
    key("2", { ...later, expiresAt: IN_THREE_DAYS }),
    key("2", { createdAt: "2026-09-01T00:00:00.000Z" }),
  ])
    expect(expiringKeysOf([other, old], NOW).find((ending) => ending.key === old)?.successor).toBe(null);
});

test("the create and rotate forms produce the API request bodies", () => {
  const scopes = { check: true, consume: false, events: true, reverse: false };
  expect(toKeyBody({ name: " Backend ", scopes, lasts: "" }, NOW)).toEqual({
    name: "Backend",
    scopes: ["check", "events"],
  });
  expect(toRotateBody({ overlap: "3600", lasts: "30" }, NOW)).toEqual({
    overlapSeconds: 3_600,
    expiresAt: "2026-12-15T12:00:00.000Z",
  });
});

test("the example call uses the endpoint with the smallest effect that the key's scopes allow", () => {
  const of = (scopes: ApiKey["scopes"], feature: string | null): string =>
    keyCall({ scopes }, { origin: "https://purser.example", secret: "pur_test_x", feature });
  expect(of(["check", "consume", "events"], "image.render")).toContain("/v1/check");
  expect(of(["check", "events"], null)).toContain("/v1/events");
  expect(of(["check"], null)).toContain("/v1/check");
  expect(of(["reverse"], "image.render")).toMatch(/v1\/consume\/con_….reverse' /);
  expect(of(["consume", "reverse"], "image.render")).toMatch(/v1\/consume.*image\.render.*idempotencyKey/s);
});

test("a creator is shown by name, or by a fallback label such as kind and ID", () => {
  const shown = (["member", "token", "command", "system"] as const).map((kind) => [
    nameOfCreator({ kind, id: "9", name: "Olga" }),
    nameOfCreator({ kind, id: "9", name: null }),
  ]);
  expect(shown).toEqual([
    ["Olga", "member 9"],
    ["Olga", "token 9"],
    ["Olga", "9"],
    ["Olga", "Purser"],
  ]);
});

test("rotating a key suggests the expiry option closest to the old key's lifetime", () => {
  const createdAt = "2026-01-01T00:00:00.000Z";
  const lasting = (expiresAt: string | null) => lastingOf({ createdAt, expiresAt });
  expect(lasting(null)).toBe("");
  expect(lasting("2026-04-01T00:00:00.000Z")).toBe("90");
  expect(lasting("2027-01-01T00:00:00.000Z")).toBe("365");
  // A one-day lifetime, which only the API can set, maps to the shortest option, not to no expiry.
  expect(lasting("2026-01-02T00:00:00.000Z")).toBe("30");
});
