import { expect, test } from "vitest";
import { findDuplicates } from "../src/features/ledger/ledger-duplicates.ts";
import type { Entry, Grant } from "../src/features/ledger/queries.ts";

const START = Date.parse("2026-11-15T08:30:00.000Z");

function entryOf(sequence: number, second: number, fields: Partial<Entry> = {}): Entry {
  const recordedAt = new Date(START + second * 1_000).toISOString();
  return {
    sequence,
    kind: "consume",
    pool: "credits",
    amount: -10,
    balanceAfter: 100,
    effectiveAt: recordedAt,
    recordedAt,
    feature: "image.render",
    quantity: 1,
    plan: { key: "pro", version: 1 },
    overrides: null,
    consumeId: `con_${sequence}`,
    item: null,
    holdId: null,
    uncovered: 0,
    overage: 0,
    reversedQuantity: 0,
    reverses: null,
    idempotencyKey: `key-${sequence}`,
    memberId: null,
    metadata: null,
    parts: [{ grant: 1, amount: -10 }],
    ...fields,
  };
}

function twinsOf(entries: readonly Entry[], grant: Partial<Grant> | null = null): [number, number][] {
  const lines = entries.toReversed().map((entry) => ({ entry, by: null, movedGrant: null }));
  const known = grant === null ? null : { ...GRANT, ...grant };
  return [...findDuplicates(lines, () => known)].map(([sequence, { before }]) => [sequence, before.sequence]);
}

const GRANT: Grant = {
  grant: 1,
  kind: "manual",
  pool: "credits",
  credits: 50,
  remaining: 50,
  held: 0,
  expiresAt: null,
  effectiveAt: new Date(START).toISOString(),
  recordedAt: new Date(START).toISOString(),
  revokedAt: null,
  reference: null,
  price: null,
  note: null,
  movedFrom: null,
  movedTo: null,
};

test.each<[string, Entry[], [number, number][]]>([
  ["equal charges within a minute", [entryOf(1, 0), entryOf(2, 60)], [[2, 1]]],
  ["equal charges more than a minute apart", [entryOf(1, 0), entryOf(2, 61)], []],
  ["a different quantity", [entryOf(1, 0), entryOf(2, 3, { quantity: 2 })], []],
  ["a different feature", [entryOf(1, 0), entryOf(2, 3, { feature: "export" })], []],
  ["a different member", [entryOf(1, 0), entryOf(2, 3, { memberId: "user_7" })], []],
  [
    "a different charge between equal charges",
    [entryOf(1, 0), entryOf(2, 1, { feature: "export" }), entryOf(3, 2)],
    [[3, 1]],
  ],
  ["free charges", [entryOf(1, 0, { amount: 0 }), entryOf(2, 3, { amount: 0 })], []],
  [
    "charges that include overage",
    [entryOf(1, 0, { overage: 4, amount: -6 }), entryOf(2, 3, { overage: 10, amount: 0 })],
    [[2, 1]],
  ],
  ["the later charge is reversed", [entryOf(1, 0), entryOf(2, 3, { reversedQuantity: 1 })], []],
  ["the earlier charge is reversed", [entryOf(1, 0, { reversedQuantity: 1 }), entryOf(2, 3)], []],
  [
    "three equal charges in a row",
    [entryOf(1, 0), entryOf(2, 3), entryOf(3, 6)],
    [
      [2, 1],
      [3, 2],
    ],
  ],
  ["six equal charges", [0, 9, 18, 27, 36, 45].map((second, index) => entryOf(index + 1, second)), []],
])("possible duplicate charges: %s", (_, entries, expected) => {
  expect(twinsOf(entries)).toEqual(expected);
});

test("equal top-ups within ten minutes are possible duplicates; plan credits and revoked credits never are", () => {
  const given = (sequence: number, second: number): Entry =>
    entryOf(sequence, second, { kind: "grant", amount: 50, feature: null, quantity: null });
  expect(twinsOf([given(1, 0), given(2, 600)], {})).toEqual([[2, 1]]);
  expect(twinsOf([given(1, 0), given(2, 601)], {})).toEqual([]);
  expect(twinsOf([given(1, 0), given(2, 3)], { kind: "allowance" })).toEqual([]);
  expect(twinsOf([given(1, 0), given(2, 3)], { revokedAt: GRANT.recordedAt })).toEqual([]);
});
