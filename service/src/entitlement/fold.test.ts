import { expect, test } from "vitest";
import { at, makeCatalog } from "../../test/catalog.ts";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import type { Script, ScriptStep } from "../../test/model/script.ts";
import { brandAs, type FeatureKey } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import type { Entry, ItemPlace } from "./entry.ts";
import { Fold, reversedConsumes } from "./fold.ts";
import { balanceOf, heldIn, newWallet, type Wallet } from "./wallet.ts";

test("after every history, the wallet equals the wallet recomputed from its ledger", {
  timeout: HISTORIES_TIMEOUT_MS,
}, () => {
  // Verified after every step.
  forEveryHistory(HISTORIES / 3, (script) => {
    play(script, (book, { catalog }) => {
      const found = verify(book, catalog);
      if (found !== null) throw new Error(found);
    });
  });
});

test("an omitted, duplicated or changed entry is always detected", {
  timeout: HISTORIES_TIMEOUT_MS,
}, () => {
  forEveryHistory(HISTORIES / 10, (script) => {
    const { book, catalog } = play(script);
    // A sample, because a history may have hundreds of entries.
    const stride = Math.ceil(book.entries.length / 10);
    for (const [index, entry] of book.entries.entries()) {
      if (index % stride !== 0) continue;
      const without = book.copy();
      without.entries.splice(index, 1);
      const doubled = book.copy();
      doubled.entries.splice(index, 0, entry);
      const changed = book.copy();
      changed.entries[index] = { ...entry, amount: entry.amount + 1, balanceAfter: entry.balanceAfter + 1 };
      for (const tampered of [without, doubled, changed]) expect(verify(tampered, catalog)).not.toBeNull();
    }
  });
});

test("a wallet that differs from its ledger in any number is always detected", {
  timeout: HISTORIES_TIMEOUT_MS,
}, () => {
  forEveryHistory(HISTORIES / 10, (script) => {
    const { book, catalog } = play(script);
    for (const wallet of tamperedWallets(book.wallet)) {
      const tampered = book.copy();
      tampered.wallet = wallet;
      if (verify(tampered, catalog) === null) throw new Error(`unnoticed: ${JSON.stringify(wallet)}`);
    }
  });
});

test("an item that is omitted, moved or has a different position is always detected", {
  timeout: HISTORIES_TIMEOUT_MS,
}, () => {
  forEveryHistory(HISTORIES / 10, (script) => {
    const { book, catalog } = play(script);
    for (const [index, entry] of book.entries.entries()) {
      const { kind, usage } = entry;
      if (kind !== "consume" || usage?.place == null) continue;
      const { place } = usage;
      const next = book.entries[index + 1];
      const others = [null, { ...place, index: place.index + 1 }, { ...place, of: place.of + 1 }];
      const tampered = [
        book.entries.toSpliced(index, 1),
        ...(next === undefined ? [] : [book.entries.toSpliced(index, 2, next, entry)]),
        ...others.map((other) => book.entries.with(index, { ...entry, usage: { ...usage, place: other } })),
      ];
      for (const entries of tampered) expect(verify(withEntries(book, entries), catalog)).not.toBeNull();
    }
  });
});

test("a request with a missing charge is reported", () => {
  const { book, catalog } = consumeFree(["image", "text", "disk"]);
  // Entry 1 grants the allowance.
  const found = [1, 2, 3].map((index) =>
    verify(withEntries(book, book.entries.toSpliced(index, 1)), catalog),
  );
  expect(found).toEqual([
    "entry 2, consume, is charge 2 of 3 of a request, without the others",
    "entry 3, consume, comes before charge 2 of 3 of a request",
    "the ledger ends before charge 3 of 3 of a request",
  ]);
});

test("a gap between the charges of a request is reported", () => {
  const { book, catalog } = consumeFree(["image", "text"], ["export"]);
  const [granted, image, text, other] = book.entries;
  const moved = [granted, image, other, text].filter((entry) => entry !== undefined);
  expect(verify(withEntries(book, moved), catalog)).toBe(
    "entry 3, consume, comes before charge 2 of 2 of a request",
  );
});

test.each([
  [null, { index: 1, of: 2 }],
  [{ index: 0, of: 2 }, null],
  [
    { index: 1, of: 2 },
    { index: 0, of: 2 },
  ],
  [
    { index: 0, of: 2 },
    { index: 0, of: 2 },
  ],
  [
    { index: 0, of: 2 },
    { index: 1, of: 3 },
  ],
  [
    { index: 0, of: 3 },
    { index: 1, of: 3 },
  ],
])("two charges of one request with the positions %o and %o are reported", (...places) => {
  const { book, catalog } = consumeFree(["image", "text"]);
  const entries = book.entries.map((entry, index) => withPlace(entry, places[index - 1] ?? null));
  expect(verify(withEntries(book, entries), catalog)).toMatch(/of a request/);
});

test("a reversal whose item position differs from its charge's is reported", () => {
  const { book, catalog } = consumeFree(["image", "text"]);
  book.commit(catalog, { kind: "reverse_request", consume: 0 }, at("2026-01-02"));
  expect(verify(book, catalog)).toBeNull();
  for (const place of [null, { index: 0, of: 2 }, { index: 1, of: 3 }]) {
    const last = book.entries.length - 1;
    const entries = book.entries.map((entry, index) => (index === last ? withPlace(entry, place) : entry));
    expect(verify(withEntries(book, entries), catalog)).toBe(
      "entry 5, reverse, differs from charge 3 in pool, feature, plan, overrides, hold or item position",
    );
  }
});

/** Makes requests on a plan where everything is free, so that only the positions show which charges belong together. */
function consumeFree(...requests: string[][]): { book: Book; catalog: Catalog } {
  const features = { image: null, text: null, export: null, disk: null };
  const catalog = makeCatalog(
    { free: [{ features, cost: { credits: 0, per: 1 } }] },
    { defaultPlan: "free" },
  );
  const book = new Book(null);
  for (const request of requests) {
    const items = request.map((feature) => ({ feature: brandAs<FeatureKey>(feature), quantity: 1 }));
    book.commit(catalog, { kind: "decide", items }, at("2026-01-01"));
  }
  expect(verify(book, catalog)).toBeNull();
  return { book, catalog };
}

function withPlace(entry: Entry, place: ItemPlace | null): Entry {
  return entry.usage === null ? entry : { ...entry, usage: { ...entry.usage, place } };
}

/** A copy of the book with these entries, renumbered without gaps. */
function withEntries(book: Book, entries: readonly Entry[]): Book {
  const numbers = new Map(entries.map(({ sequence }, index) => [sequence, index + 1]));
  const copy = book.copy();
  copy.entries.length = 0;
  for (const { sequence, usage, ...entry } of entries) {
    const reverses = usage?.reverses == null ? null : (numbers.get(usage.reverses) ?? null);
    copy.entries.push({
      ...entry,
      sequence: numbers.get(sequence) ?? 0,
      usage: usage === null ? null : { ...usage, reverses },
    });
  }
  if (copy.wallet !== null) copy.wallet = { ...copy.wallet, sequence: entries.length };
  return copy;
}

/** Copies of the wallet, each with one number changed. */
function tamperedWallets(wallet: Wallet | null): Wallet[] {
  if (wallet === null) return [];
  const { grants, assignment, paused, decidedAt } = wallet;
  const isAlive = (end: number | null): boolean => end === null || end > decidedAt;
  return [
    { ...wallet, sequence: wallet.sequence + 1 },
    { ...wallet, grantCount: wallet.grantCount + 1 },
    { ...wallet, overridesCount: wallet.overridesCount + 1 },
    ...tamperedOverrides(wallet),
    ...grants.map(({ pool }) => {
      const balance = balanceOf(wallet, pool) + heldIn(wallet, pool);
      return { ...wallet, lows: [{ pool, balance }] };
    }),
    ...grants.flatMap((grant, at) => [
      { ...wallet, grants: grants.with(at, { ...grant, remaining: grant.remaining + 1 }) },
      ...(grant.remaining > 0 ? [{ ...wallet, grants: grants.toSpliced(at, 1) }] : []),
    ]),
    ...(assignment?.counters ?? []).flatMap((counter, at) => {
      if (assignment === null || !isAlive(counter.end)) return [];
      const counters = assignment.counters.with(at, { ...counter, used: counter.used - 1 });
      return [{ ...wallet, assignment: { ...assignment, counters } }];
    }),
    ...paused.flatMap((plan, at) =>
      plan.grants.map((grant, place) => {
        const more = plan.grants.with(place, { ...grant, remaining: grant.remaining + 1 });
        return { ...wallet, paused: paused.with(at, { ...plan, grants: more }) };
      }),
    ),
  ];
}

function tamperedOverrides(wallet: Wallet): Wallet[] {
  const { overrides } = wallet;
  if (overrides === null) return [];
  const [feature] = overrides.features;
  return [
    { ...wallet, overrides: null },
    { ...wallet, overrides: { ...overrides, number: overrides.number + 1 } },
    ...(feature === undefined
      ? []
      : [
          {
            ...wallet,
            overrides: {
              ...overrides,
              features: overrides.features.with(0, { ...feature, cost: { credits: 9_999, per: 1 } }),
            },
          },
        ]),
  ];
}

function play(
  script: Script,
  afterEach: (book: Book, step: ScriptStep) => void = () => {},
): { book: Book; catalog: Catalog } {
  const book = new Book(script.isKnown ? newWallet(script.start) : null);
  let catalog = script.firstCatalog;
  for (const step of script.steps) {
    const { act, clock } = step;
    catalog = step.catalog;
    if (act.kind === "block") book.block(act.isBlocked);
    if (act.kind === "notice") book.notice(catalog, clock);
    if (act.kind === "ask" && !act.isCheck && book.has(act.request)) book.commit(catalog, act.request, clock);
    afterEach(book, step);
  }
  return { book, catalog };
}

function verify(
  { wallet, grants, overrides, holdChanges, entries }: Book,
  { versions }: Catalog,
): string | null {
  if (wallet === null) return null;
  const balance =
    wallet.grants.reduce((sum, { remaining }) => sum + remaining, 0) +
    wallet.held.reduce((sum, { credits }) => sum + credits, 0);
  const fold = new Fold({ wallet, balance, grants, overrides, holdChanges, versions });
  const reversed = reversedConsumes(entries);
  for (const entry of entries) {
    const found = fold.add(entry, reversed.get(entry));
    if (found !== null) return found;
  }
  return fold.finish();
}
