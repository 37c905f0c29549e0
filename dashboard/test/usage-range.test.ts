import { expect, onTestFinished, test } from "vitest";
import { RowSplitter } from "../src/features/exports/row-splitter.ts";
import { addsUp } from "../src/features/months/roll-forward.ts";
import { formatTimeOfDay, formatZoned, startOf, zoneOf } from "../src/format/times.ts";
import { bucketFor, bucketsFor, rangeOf } from "../src/format/usage-range.ts";
import { readUsageSearch, usageSettingsOf } from "../src/format/usage-search.ts";

const NOW = Date.parse("2026-11-15T13:07:31Z");
const DAY_MS = 86_400_000;
const iso = (at: number): string => new Date(at).toISOString();

test("time ranges start on a full hour, day or month", () => {
  expect(iso(rangeOf({ range: "24h" }, NOW, "utc").from)).toBe("2026-11-14T14:00:00.000Z");
  expect(iso(rangeOf({ range: "7d" }, NOW, "utc").from)).toBe("2026-11-09T00:00:00.000Z");
  expect(iso(rangeOf({}, NOW, "utc").from)).toBe("2026-10-17T00:00:00.000Z");
  expect(iso(rangeOf({ range: "month" }, NOW, "utc").from)).toBe("2026-11-01T00:00:00.000Z");
  expect(iso(rangeOf({ range: "quarter" }, NOW, "utc").from)).toBe("2026-10-01T00:00:00.000Z");
  expect(iso(startOf("month", NOW, "utc", 2))).toBe("2027-01-01T00:00:00.000Z");
});

test("last month and last quarter end where the current month and quarter start", () => {
  const of = (range: "last-month" | "last-quarter", now: string) => {
    const { from, to } = rangeOf({ range }, Date.parse(now), "utc");
    return [from, to ?? 0].map((at) => iso(at).slice(0, 10));
  };
  expect(of("last-month", "2026-11-15T13:07:31Z")).toEqual(["2026-10-01", "2026-11-01"]);
  expect(of("last-month", "2026-01-01T00:00:00Z")).toEqual(["2025-12-01", "2026-01-01"]);
  expect(of("last-quarter", "2026-11-15T13:07:31Z")).toEqual(["2026-07-01", "2026-10-01"]);
  expect(of("last-quarter", "2026-03-31T23:59:59Z")).toEqual(["2025-10-01", "2026-01-01"]);
});

test("local times use the computer's time zone, even after it changes", async () => {
  const { TZ } = process.env;
  onTestFinished(() => {
    if (TZ === undefined) delete process.env["TZ"];
    else process.env["TZ"] = TZ;
  });
  const at = "2026-11-15T13:07:31Z";
  process.env["TZ"] = "Europe/Berlin";
  await expect.poll(() => formatZoned(at, "local")).toBe("15 Nov 2026, 14:07 CET");
  process.env["TZ"] = "Asia/Tokyo";
  await expect.poll(() => formatZoned(at, "local")).toBe("15 Nov 2026, 22:07 GMT+9");
  expect(formatTimeOfDay(at, "utc")).toBe("13:07");
  // Chart buckets and their labels use the same time zone.
  process.env["TZ"] = "Europe/Berlin";
  expect([zoneOf("local"), formatTimeOfDay(at, "local")]).toEqual(["Europe/Berlin", "14:07"]);
  process.env["TZ"] = "Asia/Tokyo";
  expect([zoneOf("local"), formatTimeOfDay(at, "local")]).toEqual(["Asia/Tokyo", "22:07"]);
});

test("a statement line is checked exactly, even beyond the safe integer range", () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const line = {
    opening: largest,
    granted: 2,
    used: 2,
    expired: 0,
    revoked: 0,
    reversed: 0,
    closing: largest,
  };
  expect(addsUp(line)).toBe(true);
  expect(addsUp({ ...line, closing: largest - 1 })).toBe(false);
});

test("the chart's bucket size fits the time range", () => {
  expect([1, 3, 4, 100, 101, 400].map((days) => bucketFor(days * DAY_MS))).toEqual([
    "hour",
    "hour",
    "day",
    "day",
    "month",
    "month",
  ]);
  expect(bucketsFor(DAY_MS)).toEqual(["hour"]);
  expect(bucketsFor(30 * DAY_MS)).toEqual(["hour", "day", "month"]);
  expect(bucketsFor(2_000 * DAY_MS)).toEqual(["month"]);
  // A bucket size that does not fit the time range is replaced.
  expect(usageSettingsOf({ range: "90d", bucket: "hour" }, NOW, "utc").bucket).toBe("day");
});

test("default and invalid values are dropped from the usage page's URL", () => {
  expect(readUsageSearch({ what: "credits", groupBy: "feature", top: 6, range: "30d" })).toEqual({});
  expect(readUsageSearch({ what: "events", groupBy: "feature", feature: "x", event: 42 })).toEqual({
    what: "events",
    event: "42",
  });
  // Overage is recorded by feature, customer and pool, but not by member or metadata.
  expect(readUsageSearch({ what: "overage", groupBy: "metadata", field: "model", pool: "gpu" })).toEqual({
    what: "overage",
    pool: "gpu",
  });
  expect(readUsageSearch({ from: "2026-11-15T13:07:00Z", to: "2026-11-15T14:00:00Z", range: "7d" })).toEqual({
    from: "2026-11-15T13:00:00.000Z",
    to: "2026-11-15T14:00:00.000Z",
  });
  expect(readUsageSearch({ from: "2026-11-15T15:00:00Z", to: "2026-11-15T14:00:00Z" })).toEqual({});
});

const CSV = 'id,note,cursor\n1,"two\nlines, ""quoted""",AAA\n2,plain,BBB\n3,ü,CCC\n';

test("a CSV stream cut anywhere yields complete rows and the cursor of the last row", () => {
  const bytes = new TextEncoder().encode(CSV);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const rows = new RowSplitter("csv");
    const kept = [bytes.slice(0, cut), bytes.slice(cut)].map((piece) =>
      new TextDecoder().decode(rows.take(piece)),
    );
    expect(kept.join("")).toBe(CSV);
    expect([rows.rows, rows.cursor]).toEqual([3, "CCC"]);
  }
  const cutOff = new RowSplitter("csv");
  cutOff.take(bytes.slice(0, CSV.indexOf("BBB") + 1));
  cutOff.dropRest();
  expect([cutOff.rows, cutOff.cursor]).toEqual([1, "AAA"]);
  const rest = new TextEncoder().encode("2,plain,BBB\n3,ü,CCC\n");
  expect(cutOff.take(rest)).toHaveLength(rest.length);
  expect([cutOff.rows, cutOff.cursor]).toEqual([3, "CCC"]);
});

test("each complete NDJSON line counts as a row", () => {
  const rows = new RowSplitter("ndjson");
  rows.take(new TextEncoder().encode('{"a":"\\"","cursor":"A"}\n{"a":"x","cursor":"B"}\n{"a'));
  expect([rows.rows, rows.cursor]).toEqual([2, "B"]);
});
