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
import type { OpenTopUp, TopUpRule } from "./alerts.ts";
import type { Catalog } from "./catalog.ts";
import { dueAt } from "./due-at.ts";
import type { Change, Entry, Notice } from "./entry.ts";
import { setAlerts } from "./set-alerts.ts";
import { needsTopUp, repeatAt } from "./top-ups.ts";
import { viewDue, viewWallet } from "./view-wallet.ts";
import type { Wallet } from "./wallet.ts";

const DAY_MS = 86_400_000;

/** The rules that histories set, one after another. Null: no rule. */
const RULES: readonly (TopUpRule | null)[] = [
  { below: 50, credits: 100, monthlyMax: 2 },
  { below: 1_000_000, credits: 1, monthlyMax: 1 },
  null,
  { below: 1_000, credits: 500, monthlyMax: 5 },
];

type OpenedTopUp = {
  readonly pool: PoolId;
  readonly number: number;
  readonly asked: { readonly at: number; readonly credits: number }[];
  isClosed: boolean;
};

/** Requests for top-ups, derived from the ledger alone. Keeps lists of what happened instead of counters. */
class RequestedTopUps {
  readonly #rules = new Map<PoolId, TopUpRule>();
  readonly #opened: OpenedTopUp[] = [];
  readonly #entries: Entry[] = [];

  /** Returns whether the rule is another one. */
  rule(pool: PoolId, rule: TopUpRule | null): boolean {
    const isOther = this.#rules.get(pool) !== (rule ?? undefined);
    if (rule === null) this.#rules.delete(pool);
    else this.#rules.set(pool, rule);
    return isOther;
  }

  /** The requests that a change makes, as `pool number attempt balance`. */
  add(change: Pick<Change, "entries" | "grants">, now: number, may: "nothing" | "repeat" | "open"): string[] {
    this.#entries.push(...change.entries);
    for (const { kind, pool, credits } of change.grants) {
      const open = kind === "purchase" ? this.#openOf(pool) : undefined;
      if (open?.asked.some((attempt) => attempt.credits <= credits)) open.isClosed = true;
    }
    if (may === "nothing") return [];
    return [...this.#rules].flatMap(([pool, rule]) => this.#ask(pool, rule, now, may)).sort();
  }

  #openOf(pool: PoolId): OpenedTopUp | undefined {
    return this.#opened.find((other) => other.pool === pool && !other.isClosed);
  }

  #ask(
    pool: PoolId,
    { below, credits, monthlyMax }: TopUpRule,
    now: number,
    may: "repeat" | "open",
  ): string[] {
    const balance = this.#entries.findLast((entry) => entry.pool === pool)?.balanceAfter ?? 0;
    if (balance >= below) return [];
    const isThisMonth = ({ at }: { at: number }): boolean =>
      new Date(at).toISOString().slice(0, 7) === new Date(now).toISOString().slice(0, 7);
    let open = this.#openOf(pool);
    if (open === undefined) {
      const inMonth = this.#opened.filter((other) => other.pool === pool && other.asked.some(isThisMonth));
      if (may === "repeat" || inMonth.length >= monthlyMax) return [];
      open = { pool, number: this.#opened.length + 1, asked: [], isClosed: false };
      this.#opened.push(open);
    } else if (now < nextAttemptAt(open)) return [];
    open.asked.push({ at: now, credits });
    return [`${pool} ${open.number} ${open.asked.length} ${balance}`];
  }
}

/** One day after the first attempt, two days after the second, and so on. */
function nextAttemptAt({ asked }: OpenedTopUp): number {
  const days = [1, 2, 4, 8, 16][asked.length - 1] ?? 32;
  return (asked.at(-1)?.at ?? 0) + days * DAY_MS;
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
    const isServed = wallet.assignment?.isDefault === false && !wallet.isBlocked;
    // A step that only writes what is due decides as if the customer were blocked.
    const may =
      !isServed || step.act.kind === "notice" ? "nothing" : isUsage(step, change) ? "open" : "repeat";
    expect(requestsOf(catalog, change)).toEqual(topUps.add(change ?? { entries: [], grants: [] }, now, may));
    expectIdleRepeat(book, catalog);
  }
}

/** Usage is a request of the customer, or a settlement. */
function isUsage({ act }: ScriptStep, change: Change | null): boolean {
  if (act.kind !== "ask") return false;
  const { kind } = act.request;
  if (kind === "settle") return change?.holds.some((hold) => hold.kind === "settled") ?? false;
  return kind === "decide" || kind === "hold";
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
  const may = topUps.rule(pool, rule) ? "open" : "repeat";
  if (change === null) return;
  book.write(change);
  const { wallet } = change;
  const isServed = wallet.assignment?.isDefault === false && !wallet.isBlocked;
  expect(requestsOf(catalog, change)).toEqual(
    topUps.add(change, wallet.decidedAt, isServed ? may : "nothing"),
  );
  const { sequence, decidedAt, isBlocked, holds, holdsUntil } = wallet;
  const stored = decodeWalletState(encodeWalletState(wallet), { sequence, decidedAt, isBlocked });
  expect({ ...stored, holds, holdsUntil }).toEqual(wallet);
}

/** If nobody touches the wallet, the job that reads `dueAt` repeats the request, and does so no later than a day after it may. */
function expectIdleRepeat({ wallet }: Book, catalog: Catalog): void {
  const ruled = wallet?.alerts.pools.filter(({ topUp }) => topUp !== null).map(({ pool }) => pool) ?? [];
  const open = wallet?.alerts.topUps.find((other) => other.open !== null && ruled.includes(other.pool))?.open;
  if (wallet == null || open == null) return;
  const at = dueAt(wallet, wallet.decidedAt);
  expect(at).not.toBeNull();
  expect(at ?? 0).toBeLessThanOrEqual(Math.max(repeatAt(open), wallet.decidedAt + DAY_MS));
  if (at === null) return;
  const repeat = viewDue(catalog, { ...wallet, holds: [] }, at)?.notices.filter(isTopUp) ?? [];
  for (const { topUp, attempt } of repeat)
    if (topUp.number === open.number) expect(attempt).toBe(open.attempt + 1);
  // If nothing else falls due first, and nothing keeps the customer from being asked, the job asks.
  const isNext = at >= repeatAt(open) && wallet.next === null && wallet.assignment?.endsAt === null;
  const after = viewWallet(catalog, { ...wallet, holds: [] }, at);
  const rule = after.alerts.pools.find(({ pool }) => pool === poolOf(wallet, open))?.topUp;
  if (isNext && rule != null && needsTopUp(after, poolOf(wallet, open), rule))
    expect(repeat.map(({ topUp }) => topUp.number)).toContain(open.number);
}

function poolOf({ alerts }: Wallet, open: OpenTopUp): PoolId {
  const found = alerts.topUps.find((other) => other.open === open);
  if (found === undefined) throw new Error("an open request belongs to a pool");
  return found.pool;
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
