import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import type { Stored } from "./stored.ts";
import type { Run } from "./valid-run/run.ts";
import { validRun } from "./valid-run/valid-run.ts";

// Beside the bugs that were thought of: there is no row of what was promised that could be missing, doubled or changed
// without being noticed.

const TABLES = [
  "events",
  "keys",
  "wallets",
  "grants",
  "ledger",
  "denials",
] as const satisfies (keyof Stored)[];

const CASES = TABLES.flatMap((table) => validRun()[table].map((_, index) => ({ table, index })));

function isNoticed(run: Run): boolean {
  return checkHistory(run, run).verdict === "fail";
}

test.each(CASES)("row $index of $table cannot be missing", ({ table, index }) => {
  const run = validRun();
  // What no call was sure of may be missing, if it is so without a trace: an event without a key leaves none.
  const isUnsure = table === "events" && run.events[index]?.marker === "plain-unknown-stored";
  run[table].splice(index, 1);
  expect(isNoticed(run)).toBe(!isUnsure);
});

test.each(CASES)("row $index of $table cannot be there twice", ({ table, index }) => {
  const run = validRun();
  const rows: unknown[] = run[table];
  rows.push(rows[index]);
  expect(isNoticed(run)).toBe(true);
});

const NUMBERS = {
  ledger: ["customer", "sequence", "pool", "amount", "balanceAfter"],
  grants: ["customer", "number", "pool", "credits"],
  wallets: ["customer", "sequence", "balance"],
  denials: ["customer", "balance", "quantity"],
  events: ["quantity"],
} as const;

const CHANGES = Object.entries(NUMBERS).flatMap(([table, fields]) =>
  fields.flatMap((field) => [1, -1].map((by) => ({ table, field, by }))),
);

test.each(CHANGES)("no $field in $table can be off by $by", ({ table, field, by }) => {
  for (const { index } of CASES.filter((other) => other.table === table)) {
    const run = validRun();
    const tables: Record<string, unknown[]> = { ...run };
    const rows = tables[table] ?? [];
    const row: Record<string, unknown> = { ...Object(rows[index]) };
    rows[index] = { ...row, [field]: Number(row[field]) + by };
    // With the row beside it, so that a failure says which.
    expect({ row, isSeen: isNoticed(run) }).toMatchObject({ isSeen: true });
  }
});
