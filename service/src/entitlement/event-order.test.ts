import fc from "fast-check";
import { expect, test } from "vitest";
import { at, makeCatalog, monthly, planId } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { viewWallet } from "./view-wallet.ts";

const plans = {
  pro: [{}],
  basic: [{ allowances: [monthly(20)] }],
  annual: [{ allowances: [{ ...monthly(500), period: "year" as const }] }],
  free: [{ allowances: [monthly(5)] }],
};
const catalog = makeCatalog(plans);
const withDefault = makeCatalog(plans, { defaultPlan: "free" });

/** The customer has been on the `pro` plan since 1 January 2026. */
function onPro(): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  return customer;
}

/** The state of a billing system at one time: the current plan, if any, and the pending plan. */
type Snapshot = {
  readonly asOf: Instant;
  readonly plan: string | null;
  readonly endsAt: Instant | null;
  readonly next: {
    readonly plan: string;
    readonly startsAt: Instant;
    readonly endsAt: Instant | null;
  } | null;
};
type Delivery = { readonly when: Instant; readonly snapshot: Snapshot; readonly calls: 1 | 2 };

const day = (number: number): Instant => brandAs<Instant>(at("2026-01-01") + number * 86_400_000);
const days = (min: number, max: number): fc.Arbitrary<Instant> => fc.integer({ min, max }).map(day);

const planKeys = fc.constantFrom("pro", "basic");
const endings = fc.option(days(9, 60), { nil: null });
const snapshots = fc.record({
  plan: fc.option(planKeys, { nil: null, freq: 6 }),
  endsAt: endings,
  next: fc.option(
    fc.record({ plan: planKeys, startsAt: days(9, 20), endsAt: fc.option(days(21, 60), { nil: null }) }),
  ),
});

/**
 * Snapshots from different days between 0 and 8, delivered from day 8 on, in two orders. Some deliveries are repeated, sometimes without
 * the second call.
 */
const twoOrders = fc.array(snapshots, { minLength: 2, maxLength: 4 }).chain((drawn) => {
  const count = drawn.length;
  const indexes = [...drawn.keys()];
  const partial = fc.array(fc.record({ index: fc.constantFrom(...indexes), calls: fc.constantFrom(1, 2) }), {
    maxLength: 3,
  });
  return fc
    .record({
      asOfs: fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { minLength: count, maxLength: count }),
      moments: fc.array(days(8, 70), { minLength: count + 3, maxLength: count + 3 }),
      orders: fc.tuple(partial, partial).chain((pair) =>
        fc.tuple(
          ...pair.map((extra) => {
            const all = [...indexes.map((index) => ({ index, calls: 2 as 1 | 2 })), ...extra];
            return fc.shuffledSubarray(all as { index: number; calls: 1 | 2 }[], { minLength: all.length });
          }),
        ),
      ),
    })
    .map(({ asOfs, moments, orders }) => {
      const sorted = moments.toSorted((a, b) => a - b);
      return orders.map((order) =>
        order.flatMap(({ index, calls }, position): Delivery[] => {
          const [kind, when] = [drawn[index], sorted[position]];
          if (kind === undefined || when === undefined) return [];
          return [{ snapshot: { ...kind, asOf: day(asOfs[index] ?? 0) }, when, calls }];
        }),
      );
    });
});

/** Makes the calls that the guide describes: the current plan first, then the pending change, both with the time of the event. */
function deliver(customer: Timeline, { when, snapshot, calls }: Delivery): void {
  const { plan, endsAt, next, asOf } = snapshot;
  const text = new Date(when).toISOString().slice(0, 10);
  if (plan !== null) customer.assign(text, plan, { endsAt, asOf, shorten: true });
  else if (next === null) customer.end(text, asOf);
  if (next === null || calls === 1) return;
  const { plan: later, ...times } = next;
  customer.assign(text, later, { ...times, asOf, shorten: true });
}

function resultOf(sold: Catalog, deliveries: readonly Delivery[], until: Instant): unknown {
  const customer = new Timeline(sold);
  customer.assign("2025-12-20", "annual", { endsAt: null, asOf: at("2025-12-20") });
  for (const delivery of deliveries) deliver(customer, delivery);
  const { assignment, next, planAsOf } = viewWallet(sold, customer.wallet, until);
  return {
    plan: assignment?.plan ?? null,
    endsAt: assignment?.endsAt ?? null,
    isDefault: assignment?.isDefault ?? null,
    planAsOf,
    next: next === null ? null : [next.plan, next.startsAt, next.endsAt],
  };
}

test("billing events give the same result in every order, even if a pending change starts between two events", () => {
  fc.assert(
    fc.property(fc.constantFrom(catalog, withDefault), twoOrders, (sold, orders) => {
      // Excludes snapshots with only a pending change: the current plan would depend on the snapshot before.
      fc.pre(orders.flat().every(({ snapshot }) => snapshot.plan !== null || snapshot.next === null));
      const [one = [], other = []] = orders;
      const last = brandAs<Instant>(Math.max(...orders.flat().map(({ when }) => when)));
      for (const until of [last, day(71)])
        expect(resultOf(sold, one, until)).toEqual(resultOf(sold, other, until));
    }),
    { numRuns: 3000 },
  );
});

test("an event delivered again changes nothing", () => {
  fc.assert(
    fc.property(twoOrders, fc.nat({ max: 5 }), ([deliveries = []], index) => {
      fc.pre(deliveries.every(({ snapshot }) => snapshot.plan !== null || snapshot.next === null));
      const again = deliveries[index];
      const last = deliveries.at(-1);
      if (again === undefined || last === undefined) return;
      const repeated = [...deliveries, { ...again, when: last.when }, { ...again, when: day(71) }];
      expect(resultOf(catalog, repeated, day(71))).toEqual(resultOf(catalog, deliveries, day(71)));
    }),
    { numRuns: 2000 },
  );
});

test("after a person drops or ends a scheduled plan, repeating the event that scheduled the plan changes nothing", () => {
  const downgrade = { startsAt: at("2026-02-01"), endsAt: null, asOf: at("2026-01-05") };
  const dropped = onPro();
  dropped.assign("2026-01-05", "basic", downgrade);
  dropped.dropNext("2026-01-06");
  for (const asOf of [downgrade.asOf, at("2026-01-04")])
    expect(dropped.assign("2026-01-07", "basic", { ...downgrade, asOf })).toBe("unchanged");
  expect(dropped.wallet.next).toBeNull();
  expect(dropped.assign("2026-01-08", "basic", { ...downgrade, asOf: at("2026-01-08") })).toBe("changed");
  const ended = onPro();
  ended.assign("2026-01-05", "basic", downgrade);
  ended.end("2026-02-02");
  expect(ended.assign("2026-02-03", "basic", downgrade)).toBe("unchanged");
  expect(ended.wallet.assignment).toBeNull();
});

test("an event about both plans, delivered again after the second plan started, does not restore the first plan", () => {
  const customer = onPro();
  const asOf = at("2026-01-05");
  customer.assign("2026-01-05", "pro", { endsAt: at("2026-02-04"), shorten: true, asOf: at("2026-01-04") });
  customer.assign("2026-01-05", "basic", { startsAt: at("2026-02-01"), asOf });
  expect(customer.assign("2026-02-02", "pro", { endsAt: at("2026-03-04"), asOf })).toBe("unchanged");
  expect(customer.wallet.assignment?.plan).toBe(planId(catalog, "basic"));
});

test("an event that schedules a plan ends the previous plan, even if it arrives after the scheduled plan ended", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: null, asOf: at("2026-01-01") });
  const downgrade = { startsAt: at("2026-01-10"), endsAt: at("2026-01-15"), asOf: at("2026-01-05") };
  expect(customer.assign("2026-01-20", "basic", downgrade)).toBe("changed");
  expect(customer.wallet.assignment).toBeNull();
  expect(customer.assign("2026-01-21", "basic", downgrade)).toBe("unchanged");
});

test("repeats of earlier events do not undo a call without a time", () => {
  const asOf = at("2026-01-05");
  const assigned = onPro();
  assigned.assign("2026-01-05", "pro", { endsAt: at("2026-03-01"), shorten: true, asOf: at("2026-01-04") });
  assigned.assign("2026-01-05", "pro", { endsAt: null, asOf });
  assigned.assign("2026-01-06", "basic");
  expect(assigned.assign("2026-01-07", "pro", { endsAt: null, asOf })).toBe("unchanged");
  expect(assigned.end("2026-01-08", asOf)).toBe("ended");
  assigned.assign("2026-01-09", "basic");
  expect(assigned.end("2026-01-10", asOf)).toBe("unchanged");
  expect(assigned.wallet.assignment?.plan).toBe(planId(catalog, "basic"));
});

test("calls with the same time can shorten a plan and schedule the next plan", () => {
  const asOf = at("2026-01-05");
  const shorter = { endsAt: at("2026-01-20"), shorten: true, asOf };
  const next = { startsAt: at("2026-01-20"), endsAt: null, asOf };
  for (const when of ["2026-01-06", "2026-01-25"]) {
    const customer = onPro();
    for (const _ of [1, 2]) {
      customer.assign(when, "pro", shorter);
      customer.assign(when, "basic", next);
    }
    expect(customer.check("2026-01-26", "image").before?.balance).toBe(20);
  }
});

test("a renewal grants one allowance, whether it arrives before or after the end of the plan", () => {
  const anchor = at("2026-01-01");
  for (const delivered of ["2026-01-31", "2026-02-02"]) {
    const customer = new Timeline(catalog);
    customer.assign("2026-01-01", "pro", { anchor, endsAt: at("2026-02-01"), asOf: anchor });
    customer.check("2026-02-01", "image");
    customer.assign(delivered, "pro", { anchor, endsAt: at("2026-03-01"), asOf: at("2026-01-31") });
    customer.consume("2026-02-28", "image");
    expect(customer.entries.filter(({ kind }) => kind === "grant")).toHaveLength(2);
  }
});

test("an event about a past plan does not replace a plan that a person assigned", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-25", "basic");
  const old = { endsAt: at("2025-02-01"), asOf: at("2025-01-20"), shorten: true };
  for (const when of ["2026-02-03", "2026-02-03", "2026-02-04"])
    expect(customer.assign(when, "pro", old)).toBe("unchanged");
  const newer = { ...old, endsAt: at("2025-03-01"), asOf: at("2025-02-20") };
  expect(customer.assign("2026-02-04", "pro", newer)).toBe("unchanged");
  expect(customer.wallet.assignment?.plan).toBe(planId(catalog, "basic"));
  // A later event with an end in the future replaces the assigned plan.
  const paid = { endsAt: at("2026-02-20"), asOf: at("2026-02-04"), shorten: true };
  expect(customer.assign("2026-02-04", "pro", paid)).toBe("changed");
  customer.check("2026-02-25", "image");
  expect(customer.assign("2026-02-25", "basic", { endsAt: at("2026-02-22"), asOf: at("2026-02-05") })).toBe(
    "unchanged",
  );
});

test("an event without an end, repeated after the plan ended, does not start the plan again", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: at("2026-02-01"), asOf: at("2026-01-01") });
  const again = { asOf: at("2026-01-05") };
  expect(customer.assign("2026-01-05", "pro", again)).toBe("unchanged");
  expect(customer.assign("2026-02-05", "pro", again)).toBe("unchanged");
  expect(customer.wallet.assignment).toBeNull();
});

test("a cancellation at the end of the period never extends the plan", () => {
  const customer = onPro();
  customer.assign("2026-01-02", "pro", { endsAt: at("2026-02-04"), shorten: true });
  expect(customer.assign("2026-02-02", "pro", { endsAt: "period_end", shorten: true })).toBe("unchanged");
  expect(customer.wallet.assignment?.endsAt).toBe(at("2026-02-04"));
});

test("an end at the time of the event ends the plan", () => {
  const customer = onPro();
  const asOf = at("2026-01-10");
  expect(customer.assign("2026-01-10", "pro", { endsAt: asOf, shorten: true, asOf })).toBe("changed");
  expect(customer.wallet.assignment).toBeNull();
});

test("after a person drops a pending change, a late event about that change still ends the current plan", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: null, asOf: at("2026-01-01") });
  customer.assign("2026-01-02", "basic", {
    startsAt: at("2026-02-01"),
    endsAt: null,
    asOf: at("2026-01-02"),
  });
  customer.dropNext("2026-01-03");
  const ended = { endsAt: at("2026-01-15"), asOf: at("2026-01-05") };
  expect(customer.assign("2026-01-20", "basic", ended)).toBe("changed");
  expect(customer.wallet.assignment).toBeNull();
});

test("a late event about the default plan changes nothing", () => {
  const customer = new Timeline(withDefault);
  customer.consume("2026-01-02", "text");
  const { wallet } = customer;
  const over = { endsAt: at("2026-02-01"), asOf: at("2026-01-05") };
  for (const when of ["2026-02-05", "2026-02-06"])
    expect(customer.assign(when, "free", over)).toBe("unchanged");
  expect(customer.wallet.assignment).toMatchObject({ number: wallet.assignment?.number, isDefault: true });
});
