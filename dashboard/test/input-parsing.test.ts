import { expect, test } from "vitest";
import { readExpiry } from "../src/features/credits/credits-form.ts";
import { importNameOf } from "../src/features/customers/import-name.ts";
import { readPrice, readWhole } from "../src/format/numbers.ts";

test.each([
  ["1500", "1500"],
  [" 1,500 ", "1500"],
  ["1 500 000", "1500000"],
  ["0", "0"],
  ["2,5", null],
  ["49,90", null],
  ["1,5000", null],
  ["1.500", null],
  ["-5", null],
  ["1e3", null],
  ["", null],
])("the input %j is read as the whole number %j", (text, expected) => {
  expect(readWhole(text)).toBe(expected);
});

test.each([
  ["49", "EUR", 4_900],
  ["49.9", "EUR", 4_990],
  ["1,049.90", "eur", 104_990],
  ["3900", "JPY", 3_900],
  ["49,90", "EUR", null],
  ["1.049,90", "EUR", null],
  ["49.905", "EUR", null],
  ["39.00", "JPY", null],
  ["49", "EURO", null],
  ["99999999999999999", "EUR", null],
])("the price %j %s is read as %j in the currency's smallest unit", (text, currency, amount) => {
  expect(readPrice(text, currency)?.amount ?? null).toBe(amount);
});

test("the import name depends on the file's name and content, but not on a suffix such as (1)", async () => {
  const named = (name: string, content: string) => importNameOf(new File([content], name));
  const first = await named("Opening balances.csv", "customerId,credits\nada,5\n");
  expect(first).toMatch(/^Opening-balances-[0-9a-f]{8}$/);
  expect(await named("Opening balances (1).csv", "customerId,credits\nada,5\n")).toBe(first);
  expect(await named("Opening balances.csv", "customerId,credits\nada,6\n")).not.toBe(first);
  expect(await named("残高.csv", "customerId")).toMatch(/^[0-9a-f]{8}$/);
});

test.each([
  ["never", "2026-11-18T12:00:00Z", null],
  ["30-days", "2026-11-18T12:00:30Z", "2026-12-18T12:01:00.000Z"],
  ["month", "2026-11-30T23:59:59Z", "2026-12-01T00:00:00.000Z"],
  ["month", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
  ["year", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
  ["year", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00.000Z"],
  ["date", "2026-11-18T12:00:00Z", "2030-02-03T04:05:00.000Z"],
] as const)("with the expiry preset %s, credits added at %s expire at %s", (expiry, opened, expected) => {
  const form = { expiry, expires: "2030-02-03T04:05" };
  expect(readExpiry(form, { clock: "utc", openedAt: Date.parse(opened) })).toBe(expected);
});
