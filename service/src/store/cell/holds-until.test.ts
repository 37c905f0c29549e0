import { expect, test } from "vitest";
import type { Book } from "../../../test/model/book.ts";
import { forEveryHistory } from "../../../test/model/for-every-history.ts";
import { playStep, startBook } from "../../../test/model/play.ts";
import { expireDue } from "../../entitlement/expire-due.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { decodeWalletState, encodeWalletState, holdsUntilIn } from "./wallet-state.ts";

const HISTORIES = 500;
const OPEN_KINDS = new Set(["opened", "extended", "revoked"]);

function openHoldsOf({ holdChanges }: Book): Hold[] {
  const last = new Map(holdChanges.map((change) => [change.hold.number, change]));
  return [...last.values()].flatMap(({ kind, hold }) => (OPEN_KINDS.has(kind) ? [hold] : []));
}

/** Stores the wallet and reads it again with the holds that a decision at `latest` needs. A revocation needs all of them. */
function reload(book: Book, latest: number, needsAll: boolean): void {
  if (book.wallet === null) return;
  const state = encodeWalletState(book.wallet);
  const stored = decodeWalletState(state, book.wallet);
  expect(holdsUntilIn(state)).toBe(stored.holdsUntil);
  const open = openHoldsOf(book);
  for (const { expiresAt } of open) expect(expiresAt).toBeGreaterThan(stored.holdsUntil);
  if (!needsAll && stored.holdsUntil >= Math.max(latest, stored.decidedAt)) {
    book.wallet = stored;
    return;
  }
  const holdsUntil = needsAll ? Number.POSITIVE_INFINITY : Math.max(latest, stored.decidedAt) + 60_000;
  book.wallet = { ...stored, holds: open.filter(({ expiresAt }) => expiresAt <= holdsUntil), holdsUntil };
}

test("decisions are the same whether all holds or only the needed holds are read", () => {
  forEveryHistory(HISTORIES, (script) => {
    const all = startBook(script);
    const due = startBook(script);
    for (const [index, step] of script.steps.entries()) {
      const { act, catalog, clock } = step;
      const latest = Math.max(clock, catalog.changedAt);
      reload(due, latest, act.kind === "ask" && act.request.kind === "revoke");
      // The sweep also makes decisions.
      if (index % 5 === 0 && all.wallet !== null && due.wallet !== null) {
        const [expected, swept] = [all.wallet, due.wallet].map((wallet) => expireDue(catalog, wallet, clock));
        expect(swept?.entries).toEqual(expected?.entries);
        if (expected && swept) {
          all.write(expected);
          due.write(swept);
        }
      }
      const expected = playStep(all, step);
      const played = playStep(due, step);
      expect(played.answer).toEqual(expected.answer);
      expect(played.change?.entries).toEqual(expected.change?.entries);
      expect(played.change?.holds).toEqual(expected.change?.holds);
      expect(withoutHolds(due.wallet)).toEqual(withoutHolds(all.wallet));
    }
  });
});

function withoutHolds(wallet: Wallet | null): Wallet | null {
  return wallet && { ...wallet, holds: [], holdsUntil: 0 };
}
