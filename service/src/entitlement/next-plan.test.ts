import fc from "fast-check";
import { expect, test } from "vitest";
import { at, CREDITS, getFeature, makeCatalog, monthly, planId } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import type { Catalog } from "./catalog.ts";
import { decide } from "./decide.ts";
import type { Entry } from "./entry.ts";
import { expireDue } from "./expire-due.ts";
import type { Wallet } from "./wallet.ts";

const catalog = makeCatalog({
  pro: [{}],
  basic: [{ allowances: [monthly(20)] }],
  free: [{ allowances: [monthly(5)] }],
  trial: [{ allowances: [{ pool: CREDITS, credits: 50, period: "once", rollover: 0, overage: 0 }] }],
});

const withDefault = makeCatalog(
  { pro: [{}], basic: [{ allowances: [monthly(20)] }], free: [{ allowances: [monthly(5)] }] },
  { defaultPlan: "free" },
);

/** The customer has been on the `pro` plan since 1 January 2026. */
function onPro(sold: Catalog = catalog): Timeline {
  const customer = new Timeline(sold);
  customer.assign("2026-01-01", "pro");
  return customer;
}

const history = (customer: Timeline): string[] =>
  customer.assignments.map(({ kind, plan, effectiveAt }) => {
    const key = customer.catalog.plans.get(plan)?.key;
    return `${new Date(effectiveAt).toISOString().slice(0, 10)} ${kind} ${key}`;
  });

test("a downgrade at period end keeps the current plan until then, with no gap before the new plan", () => {
  const customer = onPro(withDefault);
  expect(customer.assign("2026-01-10", "basic", { startsAt: "period_end" })).toBe("changed");
  expect(customer.wallet.next).toMatchObject({ startsAt: at("2026-02-01"), endsAt: null });
  expect(customer.assign("2026-01-12", "basic", { startsAt: "period_end" })).toBe("unchanged");
  expect(customer.check("2026-01-31T23:59:59", "image").before?.balance).toBe(100);
  expect(customer.check("2026-02-10", "image").before).toMatchObject({
    balance: 20,
    resetsAt: at("2026-03-01"),
  });
  // The call is repeated after the change took effect.
  expect(customer.assign("2026-02-10", "basic", { startsAt: "period_end" })).toBe("unchanged");
  expect(customer.wallet.next).toBeNull();
  expect(history(customer)).toEqual([
    "2026-01-01 started pro",
    "2026-02-01 scheduled basic",
    "2026-02-01 ended pro",
    "2026-02-01 started basic",
  ]);
});

test("a cancellation at period end requires `shorten`, and can be repeated until the plan ends", () => {
  const customer = onPro();
  const cancel = { endsAt: "period_end", shorten: true } as const;
  expect(customer.assign("2026-01-10", "pro", { endsAt: "period_end" })).toBe("would_shorten");
  expect(customer.assign("2026-01-10", "pro", cancel)).toBe("changed");
  expect(customer.assign("2026-01-31T23:59:59", "pro", cancel)).toBe("unchanged");
  expect(customer.wallet.assignment?.endsAt).toBe(at("2026-02-01"));
  // A late repeat must not start the plan again.
  expect(customer.assign("2026-02-01", "pro", cancel)).toBe("no_running_period");
});

test("`period_end` is the end of the current period of the plan's longest allowance", () => {
  const week = { pool: CREDITS, credits: 10, period: "week" as const, rollover: 0, overage: 0 };
  const mixed = makeCatalog({
    mixed: [{ allowances: [week, { ...monthly(1), period: "year" }] }],
    pro: [{}],
  });
  const customer = new Timeline(mixed);
  expect(customer.assign("2026-01-01", "pro", { startsAt: "period_end" })).toBe("no_running_period");
  expect(customer.assign("2026-01-01", "mixed", { endsAt: "period_end" })).toBe("no_running_period");
  customer.assign("2026-01-01", "mixed");
  customer.assign("2026-01-02", "pro", { startsAt: "period_end" });
  expect(customer.wallet.next?.startsAt).toBe(at("2027-01-01"));
  const onTrial = new Timeline(catalog);
  onTrial.assign("2026-01-01", "trial");
  expect(onTrial.assign("2026-01-02", "pro", { startsAt: "period_end" })).toBe("no_running_period");
});

test("if a plan ends before its period does, the plan scheduled for `period_end` starts without a gap", () => {
  const customer = onPro(withDefault);
  customer.assign("2026-01-02", "pro", { endsAt: at("2026-01-20"), shorten: true });
  expect(customer.assign("2026-01-03", "basic", { startsAt: "period_end" })).toBe("changed");
  expect(customer.wallet.next).toMatchObject({ startsAt: at("2026-01-20"), anchor: at("2026-01-20") });
  expect(customer.check("2026-01-20", "image").before).toMatchObject({
    balance: 20,
    resetsAt: at("2026-02-20"),
  });
  const kept = onPro();
  kept.assign("2026-01-02", "pro", { endsAt: at("2026-01-20"), shorten: true });
  expect(kept.assign("2026-01-03", "pro", { endsAt: "period_end" })).toBe("unchanged");
  expect(kept.wallet.assignment?.endsAt).toBe(at("2026-01-20"));
});

test("scheduling again replaces the pending change; assigning a plan, ending the plan or dropping the change removes it", () => {
  const scheduled = (): Timeline => {
    const customer = onPro();
    customer.assign("2026-01-02", "basic", { startsAt: at("2026-03-01") });
    return customer;
  };
  const replaced = scheduled();
  expect(replaced.assign("2026-01-03", "free", { startsAt: at("2026-02-15") })).toBe("changed");
  expect(replaced.wallet.next).toMatchObject({ plan: planId(catalog, "free"), startsAt: at("2026-02-15") });
  for (const [remove, outcome] of [
    [
      (customer: Timeline) =>
        customer.assign("2026-01-03", "pro", { endsAt: at("2027-01-01"), shorten: true }),
      "changed",
    ],
    [(customer: Timeline) => customer.assign("2026-01-03", "free"), "changed"],
    [(customer: Timeline) => customer.end("2026-01-03"), "ended"],
    [(customer: Timeline) => customer.dropNext("2026-01-03"), "changed"],
  ] as const) {
    const customer = scheduled();
    expect(remove(customer)).toBe(outcome);
    expect(customer.wallet.next).toBeNull();
    expect(history(customer)).toContain("2026-01-03 unscheduled basic");
    expect(customer.dropNext("2026-01-04")).toBe("unchanged");
  }
});

test("if a plan ends before the pending change starts, the customer has the default plan until then", () => {
  const customer = onPro(withDefault);
  customer.assign("2026-01-02", "pro", { endsAt: at("2026-01-10"), shorten: true });
  customer.assign("2026-01-03", "basic", { startsAt: at("2026-01-20"), endsAt: at("2026-01-25") });
  expect(customer.check("2026-01-15", "image").before?.balance).toBe(5);
  expect(customer.check("2026-01-20", "image").before?.balance).toBe(20);
  customer.consume("2026-01-26", "export");
  expect(history(customer).slice(3)).toEqual([
    "2026-01-10 ended pro",
    "2026-01-10 started free",
    "2026-01-20 ended free",
    "2026-01-20 started basic",
    "2026-01-25 ended basic",
    "2026-01-25 resumed free",
  ]);
});

test("a pending change to the default plan makes the plan assigned, and it keeps its allowance and anchor", () => {
  const customer = new Timeline(withDefault);
  customer.consume("2026-01-05", "text");
  customer.assign("2026-01-06", "free", { startsAt: at("2026-01-20") });
  customer.consume("2026-01-21", "export");
  expect(customer.wallet.assignment).toMatchObject({ isDefault: false, number: 1, anchor: at("2026-01-05") });
  expect(customer.balance).toBe(4);
});

test("if the customer will still have a plan at the scheduled start, scheduling it only changes its end, immediately", () => {
  const customer = onPro();
  expect(customer.assign("2026-01-02", "pro", { startsAt: at("2026-02-01") })).toBe("unchanged");
  const shorter = { startsAt: at("2026-02-01"), endsAt: at("2026-03-01") };
  expect(customer.assign("2026-01-02", "pro", shorter)).toBe("would_shorten");
  expect(customer.assign("2026-01-02", "pro", { ...shorter, shorten: true })).toBe("changed");
  expect(customer.wallet).toMatchObject({ next: null, assignment: { endsAt: at("2026-03-01") } });
  expect(customer.assign("2026-01-02", "pro", { startsAt: at("2026-03-01") })).toBe("changed");
  expect(customer.check("2026-03-02", "image").allowed).toBe(true);
});

test("scheduling the current plan drops the pending change, so the customer stays on the plan", () => {
  const customer = onPro();
  customer.assign("2026-01-02", "basic", { startsAt: at("2026-02-01") });
  expect(customer.assign("2026-01-03", "pro", { startsAt: at("2026-03-01") })).toBe("changed");
  expect(customer.wallet).toMatchObject({ next: null, assignment: { endsAt: null } });
  expect(customer.assign("2026-01-03", "pro", { startsAt: at("2026-03-01") })).toBe("unchanged");
});

test("an archived plan cannot be scheduled, but starts if it was scheduled before it was archived", () => {
  const customer = onPro();
  customer.assign("2026-01-02", "basic", { startsAt: at("2026-02-01") });
  const plans = [...catalog.plans].map(
    ([id, plan]) => [id, plan.key === "basic" ? { ...plan, archivedAt: at("2026-01-10") } : plan] as const,
  );
  customer.catalog = { ...catalog, plans: new Map(plans) };
  expect(customer.check("2026-02-02", "image").before?.balance).toBe(20);
  customer.dropNext("2026-01-12");
  expect(customer.assign("2026-01-13", "basic", { startsAt: at("2026-02-01") })).toBe("plan_archived");
});

test("a plan with a start in the past starts now, with periods counted from that start; its end must be later", () => {
  const customer = onPro();
  expect(customer.assign("2026-01-10", "basic", { startsAt: at("2026-01-05") })).toBe("changed");
  expect(customer.check("2026-01-10", "image").before?.resetsAt).toBe(at("2026-02-05"));
  for (const endsAt of [at("2026-02-01"), at("2026-01-20")])
    expect(customer.assign("2026-01-11", "pro", { startsAt: at("2026-02-01"), endsAt })).toBe(
      "ends_in_the_past",
    );
});

test("if billing events have the same time, a renewal keeps the pending change, and a cancellation drops it permanently", () => {
  const asOf = at("2026-01-05");
  const renewal = { plan: "pro", endsAt: at("2026-03-01"), asOf };
  const downgrade = { plan: "basic", startsAt: at("2026-02-15"), endsAt: null, asOf };
  const resultOf = (delivered: readonly (typeof renewal | typeof downgrade | "end")[]): unknown => {
    const customer = new Timeline(catalog);
    customer.assign("2026-01-01", "pro", { endsAt: at("2026-02-01"), asOf: at("2026-01-01") });
    for (const event of delivered) {
      if (event === "end") {
        customer.end("2026-01-06", asOf);
        continue;
      }
      const { plan, ...terms } = event;
      customer.assign("2026-01-06", plan, terms);
    }
    const { assignment, next } = customer.wallet;
    return [assignment?.endsAt ?? null, next?.startsAt ?? null];
  };
  const renewed = [renewal.endsAt, downgrade.startsAt];
  expect(resultOf([renewal, downgrade, renewal, downgrade])).toEqual(renewed);
  // After the downgrade, the renewal is treated as older: it may be a repeat of the first call for the same event.
  expect(resultOf([downgrade, renewal])).toEqual([at("2026-02-01"), downgrade.startsAt]);
  const events = [renewal, downgrade, "end" as const];
  fc.assert(
    fc.property(fc.shuffledSubarray([...events, ...events], { minLength: 4 }), (delivered) => {
      expect(resultOf([...delivered, "end"])).toEqual([null, null]);
      expect(resultOf(["end", ...delivered])).toEqual([null, null]);
    }),
  );
});

test("a repeated event does not drop a change that a person scheduled after the first delivery", () => {
  const customer = new Timeline(catalog);
  const renewal = { endsAt: at("2026-03-01"), asOf: at("2026-01-01") };
  customer.assign("2026-01-01", "pro", renewal);
  customer.assign("2026-01-02", "basic", { startsAt: at("2026-02-01") });
  expect(customer.assign("2026-01-03", "pro", renewal)).toBe("unchanged");
  expect(customer.wallet.next).not.toBeNull();
  expect(customer.assign("2026-01-04", "pro", { ...renewal, asOf: at("2026-01-02") })).toBe("changed");
  expect(customer.wallet.next).toBeNull();
});

test("after a pending change takes effect, older billing events are ignored", () => {
  const customer = onPro();
  customer.assign("2026-01-05", "basic", { startsAt: at("2026-02-01"), asOf: at("2026-01-05") });
  expect(customer.assign("2026-02-02", "pro", { asOf: at("2026-01-04") })).toBe("unchanged");
  expect(customer.wallet).toMatchObject({
    planAsOf: at("2026-01-05"),
    assignment: { plan: planId(catalog, "basic") },
  });
});

test("repeating the assignment of the current plan keeps the pending change", () => {
  const customer = onPro();
  customer.assign("2026-01-02", "basic", { startsAt: at("2026-02-01") });
  const { wallet } = customer;
  for (const again of [{}, { endsAt: null }, { anchor: at("2026-01-01") }])
    expect(customer.assign("2026-01-03", "pro", again)).toBe("unchanged");
  expect(customer.wallet).toBe(wallet);
});

test("a sweep records credits that expire at the moment a pending plan starts", () => {
  const customer = onPro();
  customer.topUp("2026-01-02", 7, { expiresAt: at("2026-02-01") });
  customer.assign("2026-01-02", "basic", { startsAt: "period_end" });
  const change = expireDue(catalog, customer.wallet, at("2026-02-03"));
  expect(change?.entries.map(({ kind, amount }) => `${kind} ${amount}`)).toContain("expire -7");
  expect(change?.wallet).toMatchObject({ decidedAt: at("2026-02-01"), next: { startsAt: at("2026-02-01") } });
});

test.each([
  ["the plan starts during a period, when a top-up expires", "2026-01-02", "2026-01-15"],
  ["the plan starts when the allowance and an older top-up expire", "2025-12-31", "2026-02-01"],
])("a sweep writes expiries in the order in which a request would: %s", (_, toppedUp, start) => {
  const customer = new Timeline(catalog);
  if (toppedUp < "2026") customer.topUp(toppedUp, 7, { kind: "manual", expiresAt: at(start) });
  customer.assign("2026-01-01", "pro");
  if (toppedUp > "2026") customer.topUp(toppedUp, 7, { kind: "manual", expiresAt: at(start) });
  customer.assign("2026-01-03", "basic", { startsAt: at(start) });
  const entriesBy = (wallet: Wallet): readonly Entry[] => {
    const decision = decide(
      catalog,
      wallet,
      [{ feature: getFeature("image").key, quantity: 1 }],
      at("2026-02-10"),
    );
    return decision.kind === "decided" ? (decision.change?.entries ?? []) : [];
  };
  const swept = expireDue(catalog, customer.wallet, at("2026-02-03"));
  const expected = entriesBy(customer.wallet);
  expect(expected.filter(({ kind }) => kind === "expire").map(({ amount }) => amount)).toEqual([-100, -7]);
  expect([...(swept?.entries ?? []), ...entriesBy(swept?.wallet ?? customer.wallet)]).toEqual(expected);
});

test("a plan change at the end of a short month keeps an anchor on the 31st if the new plan's periods align with it", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-31", "pro");
  customer.assign("2026-02-10", "basic", { startsAt: "period_end" });
  expect(customer.check("2026-03-01", "image").before).toMatchObject({
    balance: 20,
    resetsAt: at("2026-03-31"),
  });
});
