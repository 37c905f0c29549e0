import { expect, test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { audit } from "../../test/model/audit.ts";
import type { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { histories, steadyHistories } from "../../test/model/history.ts";
import { hadPlan, look, nextEnd, openGrants, seen } from "../../test/model/looking.ts";
import { play, playStep, startBook } from "../../test/model/play.ts";
import type { Request } from "../../test/model/request.ts";
import type { Script } from "../../test/model/script.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { assignPlan } from "./assign-plan.ts";
import type { Catalog } from "./catalog.ts";
import type { Entry } from "./entry.ts";
import { sumOf } from "./part-lists.ts";
import type { Wallet } from "./wallet.ts";

const RUNS = Math.ceil(HISTORIES / 5);
const HOUR_MS = 3_600_000;

function always(name: string, check: (script: Script) => void, among = histories): void {
  test(name, { timeout: HISTORIES_TIMEOUT_MS }, () => forEveryHistory(RUNS, check, among));
}

always("ledger, grants, counters and reversals are consistent after every step", (script) => {
  play(script, { after: (book) => expect(audit(book)).toEqual([]) });
});

always("a check predicts the consume, and balance and overage change by exactly the charge", (script) => {
  play(script, {
    before: (book, { catalog, clock, act }) => {
      if (act.kind !== "ask" || act.request.kind !== "decide") return;
      const { answer: check } = book.ask(catalog, act.request, clock);
      const { answer: consume, change } = book.copy().commit(catalog, act.request, clock);
      expect(consume).toEqual(check);
      if (consume.kind !== "decided") return;
      const { allowed, items } = consume;
      const isCharge = ({ kind, hold }: Entry): boolean => kind === "consume" && hold === null;
      const consumes = change?.entries.filter(isCharge) ?? [];
      const charges = consumes.map(({ pool, amount, usage }) => ({
        pool,
        credits: -amount + 0,
        overage: sumOf(usage?.overage ?? []),
      }));
      expect(charges.map(({ credits, overage }) => credits + overage)).toEqual(
        allowed ? items.map(({ creditsRequired }) => creditsRequired) : [],
      );
      for (const [index, { before, after }] of items.entries()) {
        // All items of the same pool change its balance.
        const charged = charges.filter(({ pool }) => pool === charges[index]?.pool);
        const credits = charged.reduce((sum, charge) => sum + charge.credits, 0);
        expect((before?.balance ?? 0) - (after?.balance ?? 0)).toBe(credits);
        const overage = charged.reduce((sum, charge) => sum + charge.overage, 0);
        expect((after?.overage?.used ?? 0) - (before?.overage?.used ?? 0)).toBe(overage);
        if (overage > 0) expect(after?.balance).toBe(0);
        if (overage > 0 && before?.overage?.remaining != null)
          expect(overage).toBeLessThanOrEqual(before.overage.remaining);
        const used = (after?.limit?.used ?? 0) - (before?.limit?.used ?? 0);
        expect(used).toBe(allowed && before?.limit ? act.request.items[index]?.quantity : 0);
      }
    },
  });
});

always("a denied request writes only due changes", (script) => {
  play(script, {
    before: (book, { catalog, clock, act }) => {
      if (act.kind !== "ask" || act.request.kind !== "decide" || !hadPlan(book)) return;
      const { answer, change } = book.ask(catalog, act.request, clock);
      if (answer.kind === "decided" && !answer.allowed) expect(change).toEqual(book.due(catalog, clock));
    },
  });
});

// Uses only clocks that never step back: after a step back, an earlier read may have moved the wallet past the clock.
always("reading a wallet often or rarely gives the same result", lookOftenAndRarely, steadyHistories);

function lookOftenAndRarely(script: Script): void {
  const rarely = startBook(script);
  const often = startBook(script);
  let { firstCatalog: catalog, start: clock } = script;
  for (const step of script.steps) {
    lookAtEveryEnd(often, catalog, { from: clock, until: step.clock });
    // A catalog holds only its latest default plan, so both wallets must be read before the default plan changes.
    const isChosen = step.catalog.defaultPlan !== catalog.defaultPlan;
    for (const book of isChosen ? [often, rarely] : []) look(book, { catalog, clock: step.clock });
    expect(playStep(often, step).answer).toEqual(playStep(rarely, step).answer);
    expect(seen(often, step)).toEqual(seen(rarely, step));
    ({ catalog, clock } = step);
  }
}

always("assigning the active plan again changes nothing", (script) => {
  play(script, {
    before: (book, { catalog, clock }) => {
      const { assignment } = wouldBe(book, catalog, clock) ?? { assignment: null };
      if (book.wallet === null || assignment === null || assignment.isDefault) return;
      const again = { plan: assignment.plan, anchor: assignment.anchor, endsAt: undefined };
      expect(assignPlan(catalog, book.wallet, again, clock)).toEqual({
        kind: "unchanged",
        change: book.due(catalog, clock),
      });
    },
  });
});

always(
  "a pending change has no effect before it starts, and then has the same effect as an assignment at that moment",
  (script) => {
    play(script, {
      after: (book, step) => {
        const { next } = book.wallet ?? { next: null };
        const { catalog } = step;
        const clock = brandAs<Instant>(Math.max(step.clock, book.wallet?.decidedAt ?? 0, catalog.changedAt));
        if (next === null || clock >= next.startsAt) return;
        // If the plan ends at the same moment, the default plan would start first, with another anchor.
        const endsThen = book.wallet?.assignment?.endsAt === next.startsAt;
        if (endsThen && catalog.defaultPlan.plan === next.plan) return;
        const without = book.copy();
        without.commit(catalog, { kind: "drop_next" }, clock);
        const before = { ...step, clock: brandAs<Instant>(next.startsAt - 1) };
        if (hadPlan(book)) expect(seen(book, before)).toEqual({ ...seen(without, before), next });
        const at = { ...step, clock: next.startsAt };
        const { plan, anchor, endsAt, shorten } = next;
        const again = { kind: "assign", plan, startsAt: null, endsAt, shorten, asOf: null } as const;
        // The assignment keeps the anchor of the current period and, without `shorten`, a later end.
        const { answer } = without.commit(catalog, { ...again, anchor }, at.clock);
        if (answer.kind === "anchor_fixed") without.commit(catalog, { ...again, anchor: null }, at.clock);
        expect(seen(book, at)).toEqual(seen(without, at));
      },
    });
  },
);

always("leaving a plan and returning within its period creates no credits", (script) => {
  play(script, {
    before: (book, step) => {
      const { catalog, clock } = step;
      const wallet = wouldBe(book, catalog, clock);
      const periods = wallet?.assignment?.allowances ?? [];
      const other = [...catalog.plans.keys()].find((plan) => plan !== wallet?.assignment?.plan);
      if (!wallet?.assignment || other === undefined) return;
      const now = Math.max(clock, wallet.decidedAt, catalog.changedAt);
      if (!periods.some(({ end }) => end === null || end > now)) return;
      const stays = book.copy();
      const leaves = book.copy();
      const back = brandAs<Instant>(Math.min(now + HOUR_MS, nextEnd(wallet, now) - 1));
      stays.notice(catalog, clock);
      // A version that takes effect while the customer is away would apply on return.
      if (stays.due(catalog, back) !== null) return;
      const again = { anchor: null, startsAt: null, endsAt: undefined, shorten: false, asOf: null };
      leaves.commit(catalog, { kind: "assign", plan: other, ...again }, clock);
      leaves.commit(catalog, { kind: "assign", plan: wallet.assignment.plan, ...again }, back);
      const later = { ...step, clock: back };
      // Both assignments drop a pending change.
      expect(seen(leaves, later)).toEqual({ ...seen(stays, later), plan: expect.anything(), next: null });
    },
  });
});

always("purchased and manually added credits survive every plan change", (script) => {
  let before: Wallet["grants"] = [];
  const added = (book: Book): Wallet["grants"] =>
    book.wallet?.grants.filter((grant) => grant.kind !== "allowance") ?? [];
  play(script, {
    before: (book, { catalog, clock }) => {
      const noticed = book.copy();
      // Applies due expiries and hold ends first, because the plan change does not cause them.
      noticed.notice(catalog, clock);
      before = added(noticed);
    },
    after: (book, { act }, { change }) => {
      const isOfPlan = act.kind === "ask" && ["assign", "end", "drop_next"].includes(act.request.kind);
      if (isOfPlan && change !== null) expect(added(book)).toEqual(before);
    },
  });
});

always("reversing everything restores every grant and every limit", (script) => {
  const book = play(script, {});
  const step = script.steps.at(-1);
  if (step === undefined) return;
  const { catalog, clock } = step;
  book.block(false);
  const consume = (quantity: number): void => {
    const all = [...catalog.features.keys()].map((feature) => ({ feature, quantity }));
    for (const item of all) book.commit(catalog, { kind: "decide", items: [item] }, clock);
    book.commit(catalog, { kind: "decide", items: all }, clock);
  };
  consume(1);
  // Credits returned to a revoked grant are revoked again.
  if (openGrants(book).some(({ number }) => book.isRevoked(number))) return;
  const before = { grants: openGrants(book), seen: seen(book, step) };
  const first = book.consumes().length;
  for (const quantity of [1, 2, 7]) consume(quantity);
  for (const [index, { usage }] of book.consumes().entries()) {
    if (index < first) continue;
    if (usage.quantity > 1) book.commit(catalog, { kind: "reverse", consume: index, quantity: 1 }, clock);
    const rest: Request =
      usage.place === null
        ? { kind: "reverse", consume: index, quantity: null }
        : { kind: "reverse_request", consume: index };
    book.commit(catalog, rest, clock);
  }
  expect({ grants: openGrants(book), seen: seen(book, step) }).toEqual(before);
});

always("opening and releasing a hold changes no credits and no limit, and writes no entry", (script) => {
  play(script, {
    after: (book, step) => {
      const { catalog, clock } = step;
      const [feature] = catalog.features.keys();
      if (feature === undefined || !hadPlan(book)) return;
      book.notice(catalog, clock);
      const held = book.copy();
      const items = [{ feature, quantity: 1 }];
      const terms = { expiresInMs: 60_000, onExpiry: "release", memberId: null } as const;
      const { answer } = held.commit(catalog, { kind: "hold", items, terms }, clock);
      if (answer.kind !== "decided" || !answer.allowed) return;
      held.commit(catalog, { kind: "release", hold: held.holds.length - 1 }, clock);
      expect(openGrants(held)).toEqual(openGrants(book));
      expect(seen(held, step)).toEqual(seen(book, step));
      expect(held.entries).toEqual(book.entries);
    },
  });
});

always("no credits are granted twice when the clock steps back", (script) => {
  play(script, {
    after: (book, { catalog, clock }) => {
      const copy = book.copy();
      copy.notice(catalog, clock);
      for (const ms of [0, 1, HOUR_MS, 40 * 24 * HOUR_MS]) {
        expect(copy.due(catalog, brandAs<Instant>(clock - ms))).toBeNull();
      }
    },
  });
});

/** Reads the wallet just before and at each time in the range when a plan, period, grant or hold ends. */
function lookAtEveryEnd(
  book: Book,
  catalog: Catalog,
  { from, until }: { from: number; until: number },
): void {
  for (let at = from; at < until; ) {
    const end = book.wallet === null ? until : Math.min(until, nextEnd(book.wallet, at));
    // Changes at the same moment have an order, and no read can fall between two of them.
    const moments = [end - 1, end].filter((moment) => moment > from && moment < until);
    for (const moment of moments) look(book, { catalog, clock: brandAs<Instant>(moment) });
    at = end;
  }
}

/** The wallet with due changes applied, without writing it. */
function wouldBe(book: Book, catalog: Catalog, clock: Instant): Wallet | null {
  return book.due(catalog, clock)?.wallet ?? book.wallet;
}
