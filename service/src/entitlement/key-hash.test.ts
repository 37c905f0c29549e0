import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashKey } from "./key-hash.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

// Examples from RFC 9562, appendix A.6, and from the ULID specification.
const UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

test.each([
  { key: UUID, time: "017f22e279b0" },
  { key: UUID.toUpperCase(), time: "017f22e279b0" },
  { key: ULID, time: (1469922850259).toString(16).padStart(12, "0") },
  { key: ULID.toLowerCase(), time: (1469922850259).toString(16).padStart(12, "0") },
  { key: `7${"Z".repeat(25)}`, time: "ffffffffffff" },
])("the hash of $key is its time followed by 80 bits of SHA-256", ({ key, time }) => {
  expect(hashKey(key)).toBe(time + sha256(key).slice(0, 20));
});

test.each([
  "job-7",
  "",
  `order-${UUID}`,
  `{${UUID}}`,
  ` ${UUID}`,
  `${UUID}\n`,
  UUID.replaceAll("-", ""),
  "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
  "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
  "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
  `8${ULID.slice(1)}`,
  `${ULID.slice(0, 25)}U`,
  `${ULID}0`,
  "01ARZ3NDEKTSV4RRFFQ69G5F\u212a",
])("%j is neither a UUIDv7 nor a ULID, so its hash is 128 bits of SHA-256", (key) => {
  expect(hashKey(key)).toBe(sha256(key).slice(0, 32));
});

test("IDs with the same time, or different spellings of one ID, are different keys", () => {
  const suffix = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{12}$/), { minLength: 2, maxLength: 50 });
  fc.assert(
    fc.property(suffix, (suffixes) => {
      const keys = suffixes.map((some) => `017f22e2-79b0-7cc3-98c4-${some}`);
      expect(new Set(keys.map(hashKey)).size).toBe(keys.length);
    }),
  );
  expect(hashKey(UUID)).not.toBe(hashKey(UUID.toUpperCase()));
  expect(hashKey(ULID)).not.toBe(hashKey(ULID.toLowerCase()));
});

test("hashes of later keys sort after hashes of earlier keys", () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  const keyAt = (at: number): string => {
    const digits = at.toString(16).padStart(12, "0");
    return `${digits.slice(0, 8)}-${digits.slice(8)}-7cc3-98c4-dc0c0c07398f`;
  };
  fc.assert(
    fc.property(time, time, (a, b) => {
      if (a !== b) expect(hashKey(keyAt(a)) < hashKey(keyAt(b))).toBe(a < b);
    }),
  );
});
