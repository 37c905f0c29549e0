import fc from "fast-check";
import { expect, test } from "vitest";
import { at } from "../../test/catalog.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { endAfter, type PeriodKind, periodAt, periodBefore } from "./period.ts";

const show = (instant: Instant | null): string | null =>
  instant === null ? null : formatTimestamp(instant).slice(0, 19);

test.each<[PeriodKind, string, string, string, string]>([
  ["day", "2026-03-01T09:30:00", "2026-03-03T09:29:59", "2026-03-02T09:30:00", "2026-03-03T09:30:00"],
  ["day", "2026-03-01T09:30:00", "2026-03-03T09:30:00", "2026-03-03T09:30:00", "2026-03-04T09:30:00"],
  ["week", "2026-03-01", "2026-03-15", "2026-03-15T00:00:00", "2026-03-22T00:00:00"],
  // Dates are clamped to the length of the month, but counted from the anchor: after February, the 31st returns.
  ["month", "2026-01-31", "2026-02-15", "2026-01-31T00:00:00", "2026-02-28T00:00:00"],
  ["month", "2026-01-31", "2026-02-28", "2026-02-28T00:00:00", "2026-03-31T00:00:00"],
  ["month", "2026-01-31", "2026-04-30", "2026-04-30T00:00:00", "2026-05-31T00:00:00"],
  ["month", "2028-01-30", "2028-02-29", "2028-02-29T00:00:00", "2028-03-30T00:00:00"],
  ["year", "2028-02-29", "2029-03-01", "2029-02-28T00:00:00", "2030-02-28T00:00:00"],
  ["year", "2028-02-29", "2032-02-29", "2032-02-29T00:00:00", "2033-02-28T00:00:00"],
  // An anchor in the future only sets the boundaries.
  ["month", "2026-06-15", "2026-03-01", "2026-02-15T00:00:00", "2026-03-15T00:00:00"],
])("the %s from %s at %s is [%s, %s)", (kind, anchor, now, start, end) => {
  const period = periodAt(kind, at(anchor), at(now));
  expect([show(period.start), show(period.end)]).toEqual([start, end]);
});

test("a one-time period never ends, whatever its anchor", () => {
  expect(periodAt("once", at("2030-01-01"), at("2026-01-01")).end).toBeNull();
  expect(endAfter("once", at("2026-01-01"), at("2026-01-01"), 3)).toBeNull();
});

const instants = fc
  .integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) })
  .map((ms) => brandAs<Instant>(ms));
const kinds = fc.constantFrom<PeriodKind>("day", "week", "month", "year");

test("each period contains its moment and starts when the previous period ends", () => {
  fc.assert(
    fc.property(kinds, instants, instants, (kind, anchor, now) => {
      const period = periodAt(kind, anchor, now);
      expect(period.start).toBeLessThanOrEqual(now);
      expect(period.end).toBeGreaterThan(now);
      const before = periodBefore(kind, anchor, period.start);
      expect(before.end).toBe(period.start);
      if (period.end === null) throw new Error("the period has no end");
      const next = periodAt(kind, anchor, period.end);
      expect(next.start).toBe(period.end);
      expect(endAfter(kind, anchor, period.start, 0)).toBe(period.end);
      expect(endAfter(kind, anchor, period.start, 1)).toBe(next.end);
    }),
    { numRuns: 5_000 },
  );
});
