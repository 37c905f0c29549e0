import { expect, test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import type { Script, ScriptStep } from "../../test/model/script.ts";
import type { Catalog } from "./catalog.ts";
import { Fold, reversedConsumes } from "./fold.ts";
import { newWallet, type Wallet } from "./wallet.ts";

test("for every history the wallet equals the fold of its ledger", {
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

/** Copies of the wallet, each with one number changed. */
function tamperedWallets(wallet: Wallet | null): Wallet[] {
  if (wallet === null) return [];
  const { grants, assignment, paused, decidedAt } = wallet;
  const isAlive = (end: number | null): boolean => end === null || end > decidedAt;
  return [
    { ...wallet, sequence: wallet.sequence + 1 },
    { ...wallet, grantCount: wallet.grantCount + 1 },
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

function verify({ wallet, grants, entries }: Book, { versions }: Catalog): string | null {
  if (wallet === null) return null;
  const balance = wallet.grants.reduce((sum, { remaining }) => sum + remaining, 0);
  const fold = new Fold({ wallet, balance, grants, versions });
  const reversed = reversedConsumes(entries);
  for (const entry of entries) {
    const found = fold.add(entry, reversed.get(entry));
    if (found !== null) return found;
  }
  return fold.finish();
}
