import { expect, test } from "vitest";
import { brandAs, type Instant } from "./brand.ts";
import { uuidV7 } from "./uuid.ts";

const AT = brandAs<Instant>(Date.UTC(2026, 10, 14, 10));

test("a UUIDv7 contains its time, version and variant", () => {
  const uuid = uuidV7(AT);
  expect(uuid).toHaveLength(16);
  expect(uuid.readUIntBE(0, 6)).toBe(AT);
  expect((uuid[6] ?? 0) >> 4).toBe(7);
  expect((uuid[8] ?? 0) >> 6).toBe(0b10);
});

test("IDs from the same instant are all different, even across refills of the random pool", () => {
  const count = 10_000;
  const ids = new Set(Array.from({ length: count }, () => uuidV7(AT).toString("hex")));
  expect(ids.size).toBe(count);
});

test("creating more IDs does not change an earlier one", () => {
  const first = uuidV7(AT);
  const before = first.toString("hex");
  for (let i = 0; i < 5_000; i++) uuidV7(AT);
  expect(first.toString("hex")).toBe(before);
});
