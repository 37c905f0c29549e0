import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import type { Stored } from "./stored.ts";
import type { Run } from "./valid-run/run.ts";
import { validRun } from "./valid-run/valid-run.ts";

// In addition to the listed mutations, the checker must report every missing, duplicate or changed row.

const TABLES = [
  "events",
  "keys",
  "wallets",
  "grants",
  "ledger",
  "denials",
  "holdChanges",
] as const satisfies (keyof Stored)[];

/** Changes only every fifth row with `ROW_STEP=5`. Each change needs a new check of the whole history, which takes 20 ms. */
const STEP = Number(process.env["ROW_STEP"] ?? 1);

const CASES = TABLES.flatMap((table) => validRun()[table].map((_, index) => ({ table, index }))).filter(
  (_, number) => number % STEP === 0,
);

function isNoticed(run: Run): boolean {
  return checkHistory(run, run).verdict === "fail";
}

test.each(CASES)("the checker reports a missing row: row $index of $table", ({ table, index }) => {
  const run = validRun();
  // The outcome of this event is unknown and it has no key, so it may be missing.
  const mayBeMissing = table === "events" && run.events[index]?.marker === "plain-unknown-stored";
  run[table].splice(index, 1);
  expect(isNoticed(run)).toBe(!mayBeMissing);
});

test.each(CASES)("the checker reports a duplicate row: row $index of $table", ({ table, index }) => {
  const run = validRun();
  const rows: unknown[] = run[table];
  rows.push(rows[index]);
  expect(isNoticed(run)).toBe(true);
});

const NUMBERS = {
  ledger: [
    "customer",
    "sequence",
    "pool",
    "amount",
    "balanceAfter",
    "quantity",
    "item",
    "items",
    "reverses",
    "hold",
    "uncovered",
    "overage",
  ],
  grants: ["customer", "number", "pool", "credits"],
  wallets: ["customer", "sequence", "balance"],
  denials: ["customer", "balance", "quantity", "item", "creditsRequired", "limitQuantity", "limitUsed"],
  holdChanges: ["customer", "number", "hold", "openedAtMs", "expiresAtMs"],
  events: ["quantity"],
} as const;

const CHANGES = Object.entries(NUMBERS).flatMap(([table, fields]) =>
  fields.flatMap((field) => [1, -1].map((by) => ({ table, field, by }))),
);

test.each(CHANGES)(
  "the checker reports a changed number: $field of $table by $by",
  ({ table, field, by }) => {
    for (const { index } of CASES.filter((other) => other.table === table)) {
      const run = validRun();
      const tables: Record<string, unknown[]> = { ...run };
      const rows = tables[table] ?? [];
      const row: Record<string, unknown> = { ...Object(rows[index]) };
      if (row[field] === null) continue;
      rows[index] = { ...row, [field]: Number(row[field]) + by };
      // Includes the row in the comparison, so that a failure shows it.
      expect({ row, isSeen: isNoticed(run) }).toMatchObject({ isSeen: true });
    }
  },
);
