import { expect, test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { audit } from "../../test/model/audit.ts";
import type { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { steadyHistories } from "../../test/model/history.ts";
import { look, nextEnd, seen } from "../../test/model/looking.ts";
import { playStep, startBook } from "../../test/model/play.ts";
import type { Script, ScriptStep } from "../../test/model/script.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import type { Entry } from "./entry.ts";
import { expireDue, mayHaveExpired } from "./expire-due.ts";

const RUNS = Math.ceil(HISTORIES / 5);
const HOUR_MS = 3_600_000;

test(
  "a sweep grants nothing unless it charges a hold, and changes no later response",
  { timeout: HISTORIES_TIMEOUT_MS },
  () => forEveryHistory(RUNS, sweepAlongTheWay, steadyHistories),
);

function sweepAlongTheWay(script: Script): void {
  const [swept, untouched] = [startBook(script), startBook(script)];
  let { firstCatalog: catalog, start: clock } = script;
  for (const step of script.steps) {
    for (let at = clock; at < step.clock; ) {
      const end = swept.wallet === null ? step.clock : Math.min(step.clock, nextEnd(swept.wallet, at));
      for (const moment of [end, end + HOUR_MS]) {
        if (moment < step.clock) sweep([swept, untouched], { catalog, clock: brandAs<Instant>(moment) });
      }
      at = brandAs<Instant>(end);
    }
    // A catalog holds only its latest default plan, so both wallets must be read before the default plan changes.
    const isChosen = step.catalog.defaultPlan !== catalog.defaultPlan;
    for (const book of isChosen ? [swept, untouched] : []) look(book, { catalog, clock: step.clock });
    expect(playStep(swept, step).answer).toEqual(playStep(untouched, step).answer);
    expect(seen(swept, step)).toEqual(seen(untouched, step));
    expect(entriesOnceSeen(swept, step)).toEqual(entriesOnceSeen(untouched, step));
    expect(audit(swept).filter((flaw) => !dueNow(swept).includes(flaw))).toEqual([]);
    ({ catalog, clock } = step);
  }
}

/** A sweep can stop after a plan ends, while the default plan's start and expiries at the same moment are still due. */
function dueNow({ wallet }: Book): string[] {
  const now = (wallet?.grants ?? []).filter(({ expiresAt }) => expiresAt === wallet?.decidedAt);
  return now.map(({ number }) => `grant ${number} expired`);
}

/** All written entries, and the entries that a read would add now. */
function entriesOnceSeen(book: Book, { catalog, clock }: ScriptStep): Entry[] {
  return [...book.entries, ...(book.due(catalog, clock)?.entries ?? [])];
}

/** Sweeps the first wallet. If the sweep charges a hold, also reads the second wallet, which must then have the same entries. */
function sweep(
  [swept, untouched]: readonly [Book, Book],
  moment: { catalog: Catalog; clock: Instant },
): void {
  const { catalog, clock } = moment;
  const change = swept.wallet === null ? null : expireDue(catalog, swept.wallet, clock);
  if (change === null || swept.wallet === null) return;
  expect(mayHaveExpired(swept.wallet, clock)).toBe(true);
  const others = change.entries.filter(({ kind, hold }) => kind !== "expire" && hold === null);
  const isCharging = change.holds.some(({ kind }) => kind === "charged");
  expect(others.filter(({ kind }) => !(isCharging && kind === "grant"))).toEqual([]);
  if (isCharging) look(untouched, moment);
  else expect(change.grants).toEqual([]);
  swept.write(change);
}
