import fc from "fast-check";
import { expect, test } from "vitest";
import { brandAs, type Instant } from "./brand.ts";
import { publicId } from "./public-id.ts";
import { uuidV7 } from "./uuid.ts";

const instants = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }).map((ms) => brandAs<Instant>(ms));
const sixteenBytes = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));

test.each([
  ["the lowest ID", "00".repeat(16), "evt_00000000000000000000000000"],
  ["one", `${"00".repeat(15)}01`, "evt_00000000000000000000000001"],
  ["the highest ID", "ff".repeat(16), "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz"],
])("%s is written in Crockford's base 32", (_, hex, expected) => {
  expect(publicId("evt", Buffer.from(hex, "hex"))).toBe(expected);
});

test("an ID consists of its prefix and 26 characters without i, l, o and u", () => {
  fc.assert(
    fc.property(instants, fc.constantFrom("evt" as const, "req" as const), (at, prefix) => {
      expect(publicId(prefix, uuidV7(at))).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    }),
  );
});

test("IDs sort like their bytes, by time, and different bytes give different IDs", () => {
  fc.assert(
    fc.property(sixteenBytes, sixteenBytes, (a, b) => {
      const [textA, textB] = [publicId("evt", a), publicId("evt", b)];
      expect(textA < textB ? -1 : textA > textB ? 1 : 0).toBe(a.compare(b));
    }),
  );
  fc.assert(
    fc.property(instants, instants, (earlier, later) => {
      fc.pre(earlier < later);
      expect(publicId("evt", uuidV7(earlier)) < publicId("evt", uuidV7(later))).toBe(true);
    }),
  );
});

test("an input that is not 16 bytes is rejected", () => {
  expect(() => publicId("evt", Buffer.alloc(15))).toThrow("16 bytes");
});
