import fc from "fast-check";
import { expect, test } from "vitest";
import { at, makeCatalog, monthly, planId } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

const catalog = makeCatalog({
  pro: [{ features: { image: null, export: { quantity: 5, period: "month" } } }],
  scale: [{ allowances: [monthly(1000)] }],
});

test("assigning the active plan again changes nothing; a different anchor or an earlier end is rejected", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: at("2026-06-01") });
  const { wallet } = customer;
  expect(customer.assign("2026-01-05", "pro")).toBe("unchanged");
  expect(customer.assign("2026-01-05", "pro", { anchor: at("2026-01-01") })).toBe("unchanged");
  expect(customer.assign("2026-01-05", "pro", { anchor: at("2026-01-03") })).toBe("anchor_fixed");
  expect(customer.assign("2026-01-05", "pro", { endsAt: at("2026-05-01") })).toBe("would_shorten");
  expect(customer.wallet).toBe(wallet);
});

test("adding an end date to a plan that has none requires `shorten`, and the plan ends on that date", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  const endsAt = at("2026-02-01");
  expect(customer.assign("2026-01-05", "pro", { endsAt })).toBe("would_shorten");
  expect(customer.assign("2026-01-05", "pro", { endsAt, shorten: true })).toBe("changed");
  expect(customer.check("2026-01-31T23:59:59", "image").allowed).toBe(true);
  expect(customer.check("2026-02-01", "image").reason).toBe("no_active_plan");
  expect(customer.assignments.map(({ kind }) => kind)).toEqual(["started", "shortened"]);
});

test("billing events result in the same plan in any order, even when repeated", () => {
  const events = [
    { asOf: at("2026-01-01"), plan: "pro", endsAt: at("2026-03-01") },
    { asOf: at("2026-01-02"), plan: "scale", endsAt: at("2026-05-01") },
    { asOf: at("2026-01-03"), plan: "scale", endsAt: at("2026-02-01") },
    { asOf: at("2026-01-04"), plan: null },
  ];
  const deliveries = fc.shuffledSubarray([...events, ...events], { minLength: 1 });
  fc.assert(
    fc.property(deliveries, (delivered) => {
      const customer = new Timeline(catalog);
      for (const { plan, ...said } of delivered) {
        if (plan === null) customer.end("2026-01-05", said.asOf);
        else customer.assign("2026-01-05", plan, { ...said, shorten: true });
      }
      const last = delivered.reduce((a, b) => (b.asOf > a.asOf ? b : a));
      const { assignment, planAsOf } = customer.wallet;
      expect(planAsOf).toBe(last.asOf);
      expect(assignment?.plan ?? null).toBe(last.plan === null ? null : planId(catalog, last.plan));
      expect(assignment?.endsAt).toBe(last.endsAt);
    }),
  );
});

test("if billing events have the same time, the cancellation wins, in any order and even when repeated", () => {
  const asOf = at("2026-01-01");
  const renewal = { plan: "pro", endsAt: at("2026-03-01") };
  const cuts = [
    { cut: { plan: "pro", endsAt: at("2026-02-01") }, left: at("2026-02-01") },
    { cut: { plan: null, endsAt: null }, left: undefined },
  ];
  for (const { cut, left } of cuts) {
    const events = [renewal, cut, renewal, cut];
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: 3 }), (delivered) => {
        const customer = new Timeline(catalog);
        customer.assign("2025-12-01", "pro", { endsAt: at("2026-02-15"), asOf: at("2025-12-01") });
        for (const { plan, endsAt } of delivered) {
          if (plan === null) customer.end("2026-01-05", asOf);
          else customer.assign("2026-01-05", plan, { endsAt, asOf, shorten: true });
        }
        expect(customer.wallet.assignment?.endsAt).toBe(left);
      }),
    );
  }
});

test("after a cancellation, an event with the same time cannot start or extend a plan", () => {
  const customer = new Timeline(catalog);
  const asOf = at("2026-01-02");
  customer.assign("2026-01-02", "pro", { endsAt: at("2026-02-01"), asOf });
  // The plan is not canceled yet, so events with the same time are applied.
  expect(customer.assign("2026-01-02", "pro", { endsAt: null, asOf })).toBe("changed");
  const shortened = { endsAt: at("2026-03-01"), shorten: true, asOf };
  expect(customer.assign("2026-01-02", "pro", shortened)).toBe("changed");
  expect(customer.assign("2026-01-03", "pro", shortened)).toBe("unchanged");
  for (const [plan, endsAt] of [
    ["pro", null],
    ["pro", at("2026-03-02")],
    ["scale", undefined],
  ] as const) {
    expect(customer.assign("2026-01-03", plan, { endsAt, asOf })).toBe("unchanged");
    expect(customer.wallet.assignment?.endsAt).toBe(at("2026-03-01"));
  }
  expect(customer.assign("2026-01-03", "pro", { ...shortened, endsAt: at("2026-02-15") })).toBe("changed");
  expect(customer.end("2026-01-03", asOf)).toBe("ended");
  expect(customer.end("2026-01-03", asOf)).toBe("no_assignment");
  expect(customer.assign("2026-01-03", "pro", { asOf })).toBe("unchanged");
  // The event arrives after its end date. An error would make the sender retry it forever.
  expect(customer.assign("2026-04-01", "pro", { endsAt: at("2026-03-01"), asOf })).toBe("unchanged");
  expect(customer.assign("2026-04-01", "pro", { asOf: at("2026-01-02T00:00:01") })).toBe("changed");
  customer.end("2026-04-02", at("2026-04-02"));
  expect(customer.assign("2026-04-02", "pro")).toBe("changed");
});

test("a billing event may be at most five minutes in the future", () => {
  const customer = new Timeline(catalog);
  const assign = (asOf: string) => customer.assign("2026-01-05", "pro", { asOf: at(asOf) });
  expect(assign("2026-01-05T00:05:00.001")).toBe("as_of_out_of_range");
  expect(assign("2026-01-05T00:05:00")).toBe("changed");
});

test("a later end extends the plan, and `endsAt: null` removes the end", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: at("2026-02-01") });
  expect(customer.assign("2026-01-31", "pro", { endsAt: at("2026-03-01") })).toBe("changed");
  expect(customer.check("2026-02-20", "image").allowed).toBe(true);
  expect(customer.assign("2026-02-20", "pro", { endsAt: null })).toBe("changed");
  expect(customer.check("2027-02-20", "image").allowed).toBe(true);
  expect(customer.assignments.map(({ kind }) => kind)).toEqual(["started", "extended", "extended"]);
});

test("an end in the past is rejected", () => {
  expect(new Timeline(catalog).assign("2026-01-05", "pro", { endsAt: at("2026-01-05") })).toBe(
    "ends_in_the_past",
  );
});

test("an archived plan renews for its customers and cannot be assigned, even to customers who left it", () => {
  const plans = [...catalog.plans].map(
    ([id, plan]) => [id, plan.key === "pro" ? { ...plan, archivedAt: at("2026-01-10") } : plan] as const,
  );
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro", { endsAt: at("2026-02-01") });
  customer.catalog = { ...catalog, plans: new Map(plans) };
  expect(customer.assign("2026-01-12", "pro")).toBe("unchanged");
  expect(customer.assign("2026-01-12", "pro", { endsAt: at("2026-03-01") })).toBe("changed");
  expect(customer.assign("2026-01-13", "scale")).toBe("changed");
  const { wallet } = customer;
  expect(customer.assign("2026-01-14", "pro")).toBe("plan_archived");
  expect(customer.wallet).toBe(wallet);
});

test("changing the plan ends the old allowance and grants the new allowance; purchased credits are kept", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  customer.topUp("2026-01-01", 7);
  customer.consume("2026-01-02", "image");
  customer.assign("2026-01-10", "scale");
  expect(customer.balance).toBe(1007);
  expect(customer.check("2026-01-10", "image").before?.resetsAt).toBe(at("2026-02-10"));
  customer.end("2026-01-11");
  expect(customer.balance).toBe(7);
  expect(customer.check("2026-01-12", "image")).toMatchObject({
    reason: "no_active_plan",
    before: { balance: 7, resetsAt: null },
  });
});

test("a plan that resumes within its period keeps its remaining allowance and limits", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  customer.consume("2026-01-02", "image", 3);
  customer.consume("2026-01-02", "export", 4);
  for (const day of [10, 12, 14]) {
    customer.assign(`2026-01-${day}`, "scale");
    const another = { anchor: at("2026-01-15") };
    expect(customer.assign(`2026-01-${day + 1}`, "pro", another)).toBe("anchor_fixed");
    customer.assign(`2026-01-${day + 1}`, "pro");
  }
  expect(customer.check("2026-01-20", "export").before).toMatchObject({
    balance: 70,
    resetsAt: at("2026-02-01"),
    limit: { used: 4, resetsAt: at("2026-02-01") },
  });
  // All periods of the plan have ended, so it starts again.
  customer.assign("2026-01-21", "scale");
  customer.assign("2026-02-05", "pro");
  expect(customer.check("2026-02-05", "export").before).toMatchObject({
    balance: 100,
    resetsAt: at("2026-03-05"),
    limit: { used: 0 },
  });
});

test("assigning the default plan keeps its allowance and anchor", () => {
  const customer = new Timeline(makeCatalog({ free: [{}] }, { defaultPlan: "free" }));
  customer.consume("2026-01-02", "image");
  const { balance } = customer;
  expect(customer.assign("2026-01-05", "free")).toBe("changed");
  expect(customer.balance).toBe(balance);
  expect(customer.wallet.assignment).toMatchObject({ isDefault: false, number: 1 });
  expect(customer.assign("2026-01-05", "free")).toBe("unchanged");
});
