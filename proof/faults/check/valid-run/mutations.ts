import { expect, test } from "vitest";
import type { Call } from "../../history.ts";
import { checkHistory } from "../check-history.ts";
import type { StoredEntry } from "../stored.ts";
import type { Invariant } from "../violation.ts";
import { entryOf, type Run } from "./run.ts";
import { validRun } from "./valid-run.ts";

export type Mutation = {
  readonly bug: string;
  readonly invariant: Invariant;
  /** Selects the expected check if several of them report the bug. */
  readonly says?: RegExp;
  readonly mutate: (run: Run) => void;
};

/** Tests the checker: applies each mutation alone to a valid run. */
export function testMutations(bugs: readonly Mutation[]): void {
  test.each(bugs)("$bug: reported as $invariant", ({ invariant, says = /./, mutate }) => {
    const run = validRun();
    mutate(run);
    const { verdict, violations } = checkHistory(run, run);
    expect(verdict).toBe("fail");
    expect(violations).toContainEqual({ invariant, text: expect.stringMatching(says) });
  });
}

// Functions that change a valid run. Each throws if there is nothing to change, because the test would prove nothing.

export const isOf =
  (marker: string) =>
  (row: { marker: string | null }): boolean =>
    row.marker === marker;

export const isKey =
  (key: string) =>
  (row: { key: string }): boolean =>
    row.key === key;

export function change<Row>(
  rows: Row[],
  which: (row: Row) => boolean,
  difference: (row: Row) => Partial<Row>,
): void {
  let changed = 0;
  for (const [index, row] of rows.entries()) {
    if (!which(row)) continue;
    rows[index] = { ...row, ...difference(row) };
    changed += 1;
  }
  if (changed === 0) throw new Error("nothing was changed");
}

export function remove<Row>(rows: Row[], which: (row: Row) => boolean): void {
  const kept = rows.filter((row) => !which(row));
  if (kept.length === rows.length) throw new Error("nothing was removed");
  rows.splice(0, rows.length, ...kept);
}

/** Appends a copy of the request's entry to the ledger, without changing the wallet. */
export function chargeAgain(run: Run, marker: string, difference: Partial<StoredEntry> = {}): void {
  const entry = entryOf(run, marker);
  const last = run.ledger.filter(({ customer }) => customer === entry.customer).at(-1) ?? entry;
  const position = { sequence: last.sequence + 1, recordedAtMs: last.recordedAtMs + 1 };
  run.ledger.push({ ...entry, ...position, balanceAfter: last.balanceAfter + entry.amount, ...difference });
}

export function firstCall(run: Run, marker: string): Call {
  const call = run.calls.find(({ request }) => request.marker === marker);
  if (call === undefined) throw new Error(`${marker} was not called`);
  return call;
}

/** Changes the state of the wallet that this row belongs to. */
export function rewriteWallet(run: Run, row: { customer: number }, from: RegExp, to: string): void {
  change(
    run.wallets,
    ({ customer }) => customer === row.customer,
    ({ state }) => {
      if (state.search(from) < 0) throw new Error(`no ${from} in ${state}`);
      return { state: state.replace(from, to) };
    },
  );
}

/** Changes all responses to the request. */
export function rewriteBody(run: Run, marker: string, from: string | RegExp, to: string): void {
  change(
    run.calls,
    ({ request, outcome }) => request.marker === marker && outcome.kind === "ok",
    ({ outcome }) => {
      if (outcome.kind !== "ok" || outcome.body.search(from) < 0) throw new Error("no such body");
      return { outcome: { ...outcome, body: outcome.body.replace(from, to) } };
    },
  );
}
