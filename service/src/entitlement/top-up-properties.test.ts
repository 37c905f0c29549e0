import { expect, test } from "vitest";
import { watched } from "../../test/catalog.ts";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import type { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { histories } from "../../test/model/history.ts";
import { playStep, startBook } from "../../test/model/play.ts";
import type { Script, ScriptStep } from "../../test/model/script.ts";
import type { PoolId } from "../primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "../store/cell/wallet-state.ts";
import type { TopUpRule } from "./alerts.ts";
import type { Catalog } from "./catalog.ts";
import { dueAt } from "./due-at.ts";
import type { Change, Entry, Notice } from "./entry.ts";
import { setAlerts } from "./set-alerts.ts";
import { viewDue } from "./view-wallet.ts";

const DAY_MS = 86_400_000;

/** The rules that histories set, one after another. Null: no rule. */
const RULES: readonly (TopUpRule | null)[] = [
  { below: 50, credits: 100, monthlyMax: 2 },
  { below: 1_000_000, credits: 1, monthlyMax: 1 },
  null,
  { below: 1_000, credits: 500, monthlyMax: 5 },
];

/** Requests for top-ups, derived from the ledger alone. Keeps lists of what happened instead of counters. */
class RequestedTopUps {
  readonly #rules = new Map<PoolId, TopUpRule>();
  readonly #opened: { pool: PoolId; number: number; month: string; asked: number[]; isClosed: boolean }[] =
    [];
  readonly #entries: Entry[] = [];

  rule(pool: PoolId, rule: TopUpRule | null): void {
    if (rule !== null) this.#rules.set(pool, rule);
    else {
      this.#rules.delete(pool);
      this.#close(pool);
    }
  }

  /** The requests that a change makes, as `pool number attempt balance`. */
  add(change: Pick<Change, "entries" | "grants">, now: number, mayAsk: boolean): string[] {
    this.#entries.push(...change.entries);
    for (const { kind, pool } of change.grants) if (kind === "purchase") this.#close(pool);
    return mayAsk ? [...this.#rules].flatMap(([pool, rule]) => this.#ask(pool, rule, now)).sort() : [];
  }

  #ask(pool: PoolId, { below, monthlyMax }: TopUpRule, now: number): string[] {
    const balance = this.#entries.findLast((entry) => entry.pool === pool)?.balanceAfter ?? 0;
    if (balance >= below) return [];
    const month = new Date(now).toISOString().slice(0, 7);
    let open = this.#opened.find((other) => other.pool === pool && !other.isClosed);
    if (open === undefined) {
      if (this.#opened.filter((other) => other.pool === pool && other.month === month).length >= monthlyMax)
        return [];
      open = { pool, number: this.#opened.length + 1, month, asked: [], isClosed: false };
      this.#opened.push(open);
    } else if (now - (open.asked.at(-1) ?? 0) < DAY_MS) return [];
    open.asked.push(now);
    return [`${pool} ${open.number} ${open.asked.length} ${balance}`];
  }

  #close(pool: PoolId): void {
    for (const other of this.#opened) if (other.pool === pool) other.isClosed = true;
  }
}

test(
  "in random histories, top-ups are requested exactly as the rules say, and stored wallets remember it",
  { timeout: HISTORIES_TIMEOUT_MS },
  () => forEveryHistory(HISTORIES / 2, followTopUps, histories),
);

function followTopUps(script: Script): void {
  const book = startBook(script);
  const topUps = new RequestedTopUps();
  for (const [index, step] of script.steps.entries()) {
    const catalog = watched(step.catalog, []);
    if (index % 4 === 1) setRules(book, topUps, catalog, { ...step, index });
    const before = book.wallet;
    const { change, answer } = playStep(book, { ...step, catalog });
    // A request that is refused, or only checked, decides nothing.
    const isDecided = step.act.kind === "ask" && !step.act.isCheck && answer?.kind === "decided";
    const wallet = change?.wallet ?? before;
    if (wallet === null || (change === null && !isDecided)) continue;
    const now =
      change === null ? Math.max(step.clock, wallet.decidedAt, catalog.changedAt) : wallet.decidedAt;
    // A step that only writes what is due decides as if the customer were blocked, unless the customer never had a plan.
    const isWritten = step.act.kind === "notice" && (before?.assignmentCount ?? 0) > 0;
    const mayAsk = wallet.assignment !== null && !wallet.isBlocked && !isWritten;
    expect(requestsOf(catalog, change)).toEqual(
      topUps.add(change ?? { entries: [], grants: [] }, now, mayAsk),
    );
    expectIdleRepeat(book, catalog);
  }
}

/** Sets the rule of the first pool. */
function setRules(
  book: Book,
  topUps: RequestedTopUps,
  catalog: Catalog,
  { clock, index }: ScriptStep & { readonly index: number },
): void {
  const [pool] = catalog.pools.keys();
  if (book.wallet === null || pool === undefined) return;
  const rule = RULES[(index >> 2) % RULES.length] ?? null;
  const { change } = setAlerts(catalog, book.wallet, [{ pool, lowBalances: null, topUp: rule }], clock);
  topUps.rule(pool, rule);
  if (change === null) return;
  book.write(change);
  const { wallet } = change;
  const mayAsk = wallet.assignment !== null && !wallet.isBlocked;
  expect(requestsOf(catalog, change)).toEqual(topUps.add(change, wallet.decidedAt, mayAsk));
  const { sequence, decidedAt, isBlocked, holds, holdsUntil } = wallet;
  const stored = decodeWalletState(encodeWalletState(wallet), { sequence, decidedAt, isBlocked });
  expect({ ...stored, holds, holdsUntil }).toEqual(wallet);
}

/** If nobody touches the wallet, the job that reads `dueAt` makes the next request no later than a day after it may be made. */
function expectIdleRepeat({ wallet }: Book, catalog: Catalog): void {
  const open = wallet?.alerts.topUps.find((other) => other.open !== null)?.open;
  if (wallet == null || open == null) return;
  const at = dueAt(wallet, wallet.decidedAt);
  expect(at).not.toBeNull();
  expect(at ?? 0).toBeLessThanOrEqual(Math.max(open.askedAt, wallet.decidedAt) + DAY_MS);
  if (at === null) return;
  const repeat = viewDue(catalog, { ...wallet, holds: [] }, at)?.notices.filter(isTopUp) ?? [];
  for (const { topUp, attempt } of repeat)
    if (topUp.number === open.number) expect(attempt).toBe(open.attempt + 1);
}

const isTopUp = (notice: Notice): notice is Extract<Notice, { type: "topup.due" }> =>
  notice.type === "topup.due";

function requestsOf(catalog: Catalog, change: Change | null): string[] {
  return (change?.notices ?? [])
    .filter(isTopUp)
    .map((notice) => {
      const pool = [...catalog.pools.values()].find(({ key }) => key === notice.pool);
      return `${pool?.id} ${notice.topUp.number} ${notice.attempt} ${notice.balance}`;
    })
    .sort();
}
