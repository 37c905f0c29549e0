import fc from "fast-check";
import { expect, test } from "vitest";
import { brandAs, type Instant } from "./brand.ts";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

test.each([
  ["UTC", "2026-11-14T10:00:00Z", "2026-11-14T10:00:00.000Z"],
  ["lower case t and z", "2026-11-14t10:00:00z", "2026-11-14T10:00:00.000Z"],
  ["an offset ahead of UTC", "2026-11-14T10:00:00+05:30", "2026-11-14T04:30:00.000Z"],
  ["an offset behind UTC", "2026-11-14T10:00:00-08:00", "2026-11-14T18:00:00.000Z"],
  ["an offset into the next year", "2026-12-31T23:59:59-00:01", "2027-01-01T00:00:59.000Z"],
  ["the widest offset", "2026-11-14T23:59:00+23:59", "2026-11-14T00:00:00.000Z"],
  ["the offset -00:00", "2026-11-14T10:00:00-00:00", "2026-11-14T10:00:00.000Z"],
  ["one decimal", "2026-11-14T10:00:00.5Z", "2026-11-14T10:00:00.500Z"],
  ["nine decimals, truncated and not rounded", "2026-11-14T10:00:00.123999999Z", "2026-11-14T10:00:00.123Z"],
  ["29 February of a leap year", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["the first year", "1000-01-01T00:00:00Z", "1000-01-01T00:00:00.000Z"],
  ["the last year", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("reads %s", (_, text, expected) => {
  const parsed = parseTimestamp(text);
  expect(parsed.kind === "instant" ? formatTimestamp(parsed.at) : parsed).toBe(expected);
});

test.each(["2026-11-14T10:00:00", "2026-11-14T10:00:00.123"])(
  "%s is rejected, because it has no offset",
  (text) => {
    expect(parseTimestamp(text)).toEqual({ kind: "no_offset" });
  },
);

test.each([
  ["31 February", "2026-02-31T10:00:00Z"],
  ["29 February of a common year", "2026-02-29T10:00:00Z"],
  ["month 13", "2026-13-01T10:00:00Z"],
  ["month 0", "2026-00-01T10:00:00Z"],
  ["day 0", "2026-11-00T10:00:00Z"],
  ["a leap second", "2016-12-31T23:59:60Z"],
  ["24:00", "2026-11-14T24:00:00Z"],
  ["minute 60", "2026-11-14T10:60:00Z"],
  ["offset hour 24", "2026-11-14T10:00:00+24:00"],
  ["offset minute 60", "2026-11-14T10:00:00+01:60"],
  ["an offset without a colon", "2026-11-14T10:00:00+0100"],
  ["an offset without minutes", "2026-11-14T10:00:00+01"],
  ["ten decimals", "2026-11-14T10:00:00.1234567890Z"],
  ["a dot without decimals", "2026-11-14T10:00:00.Z"],
  ["a comma instead of the dot", "2026-11-14T10:00:00,5Z"],
  ["no seconds", "2026-11-14T10:00Z"],
  ["a space instead of the T", "2026-11-14 10:00:00Z"],
  ["a date without a time", "2026-11-14"],
  ["year 999", "0999-12-31T23:59:59Z"],
  ["year 0", "0000-01-01T00:00:00Z"],
  ["a year of five digits", "+12026-11-14T10:00:00Z"],
  ["digits of another script", "٢٠٢٦-11-14T10:00:00Z"],
  ["a line break at the end", "2026-11-14T10:00:00Z\n"],
  ["epoch milliseconds", "1794650400000"],
  ["an empty string", ""],
])("%s is not a timestamp", (_, text) => {
  expect(parseTimestamp(text)).toEqual({ kind: "not_a_timestamp" });
});

const instants = fc
  .integer({ min: Date.UTC(1000, 0, 1), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })
  .map((ms) => brandAs<Instant>(ms));

test("formatting and parsing an instant returns the same instant", () => {
  fc.assert(
    fc.property(instants, (at) => {
      expect(parseTimestamp(formatTimestamp(at))).toEqual({ kind: "instant", at });
    }),
  );
});

test("a time in any offset is the same instant as in UTC", () => {
  const offsets = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
  const inTheMiddle = fc
    .integer({ min: Date.UTC(1001, 0, 1), max: Date.UTC(9998, 0, 1) })
    .map((ms) => brandAs<Instant>(ms));
  fc.assert(
    fc.property(inTheMiddle, offsets, (at, minutes) => {
      const local = formatTimestamp(brandAs<Instant>(at + minutes * 60_000)).slice(0, -1);
      const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const offset = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
      expect(parseTimestamp(`${local}${minutes < 0 ? "-" : "+"}${offset}`)).toEqual({ kind: "instant", at });
    }),
  );
});

test("a time is rejected if its offset moves it outside the years 1000 to 9999", () => {
  for (const text of ["9999-12-31T23:59:59-01:00", "1000-01-01T00:00:00+01:00"]) {
    expect(parseTimestamp(text)).toEqual({ kind: "not_a_timestamp" });
  }
  expect(parseTimestamp("9999-12-31T23:59:59.999Z")).toEqual({ kind: "instant", at: 253_402_300_799_999 });
});

test("a time is formatted like toISOString, on any day and in any order", () => {
  const times = fc.integer({ min: -30_610_224_000_000, max: 253_402_300_799_999 });
  const near = fc.integer({ min: -2 * 86_400_000, max: 2 * 86_400_000 });
  fc.assert(
    fc.property(times, fc.array(near), (at, steps) => {
      for (const step of [0, ...steps]) {
        const time = Math.min(Math.max(at + step, -30_610_224_000_000), 253_402_300_799_999);
        expect(formatTimestamp(brandAs<Instant>(time))).toBe(new Date(time).toISOString());
      }
    }),
  );
});
