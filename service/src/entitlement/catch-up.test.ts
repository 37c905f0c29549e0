import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly, STORAGE } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

const show = (customer: Timeline): string[] =>
  customer.entries.map(
    ({ kind, amount, balanceAfter, effectiveAt }) =>
      `${new Date(effectiveAt).toISOString().slice(0, 10)} ${kind} ${amount} → ${balanceAfter}`,
  );

test("the first request in a new period expires the old allowance and grants the new one, each dated when it was due", () => {
  const customer = new Timeline(makeCatalog({ pro: [{}] }));
  customer.assign("2026-01-31", "pro");
  customer.consume("2026-02-10", "image");
  customer.consume("2026-03-03", "image");
  expect(show(customer)).toEqual([
    "2026-01-31 grant 100 → 100",
    "2026-02-10 consume -10 → 90",
    "2026-02-28 expire -90 → 0",
    "2026-02-28 grant 100 → 100",
    "2026-03-03 consume -10 → 90",
  ]);
});

test("missed periods grant nothing, because their allowance would have expired", () => {
  const customer = new Timeline(makeCatalog({ pro: [{}] }));
  customer.assign("2026-01-01", "pro");
  customer.consume("2026-07-10", "image");
  expect(show(customer)).toEqual([
    "2026-01-01 grant 100 → 100",
    "2026-02-01 expire -100 → 0",
    "2026-07-01 grant 100 → 100",
    "2026-07-10 consume -10 → 90",
  ]);
});

test("credits roll over even if the customer makes no requests", () => {
  const lives = [["2026-04-10"], ["2026-02-10", "2026-03-10", "2026-04-10"]].map((looks) => {
    const customer = new Timeline(makeCatalog({ pro: [{ allowances: [monthly(100, 1)] }] }));
    customer.assign("2026-01-01", "pro");
    for (const look of looks) customer.consume(look, "export");
    return customer;
  });
  for (const customer of lives) {
    expect(customer.check("2026-04-10", "image").before?.balance).toBe(200);
    customer.consume("2026-04-10", "image");
    expect(customer.wallet.grants.map(({ remaining, expiresAt }) => [remaining, expiresAt])).toEqual([
      [90, at("2026-05-01")],
      [100, at("2026-06-01")],
    ]);
  }
});

test("a one-time allowance is granted once, even if the customer leaves and returns", () => {
  const once = { pool: CREDITS, credits: 50, period: "once" as const, rollover: 0, overage: 0 };
  const customer = new Timeline(makeCatalog({ trial: [{ allowances: [once] }], pro: [{}] }));
  customer.assign("2026-01-01", "trial");
  customer.consume("2026-01-02", "image");
  customer.assign("2026-01-03", "pro");
  customer.assign("2027-05-01", "trial");
  expect(customer.balance).toBe(40);
});

test("a plan ends at its end date, and the default plan starts at that moment", () => {
  const catalog = makeCatalog({ free: [{ allowances: [monthly(5)] }], trial: [{}] }, { defaultPlan: "free" });
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "trial", { endsAt: at("2026-01-15") });
  expect(customer.check("2026-01-14T23:59:59", "image").allowed).toBe(true);
  const decision = customer.check("2026-02-01", "image");
  expect(decision).toMatchObject({ reason: "insufficient_credits", before: { resetsAt: at("2026-02-15") } });
  expect(customer.check("2026-02-01", "text")).toMatchObject({ allowed: true, before: { balance: 5 } });
});

test("each pool has its own period", () => {
  const allowances = [
    monthly(100),
    { pool: STORAGE, credits: 7, period: "week" as const, rollover: 0, overage: 0 },
  ];
  const customer = new Timeline(
    makeCatalog({ pro: [{ allowances, features: { image: null, disk: null } }] }),
  );
  customer.assign("2026-01-01", "pro");
  customer.consume("2026-01-02", "image");
  expect(customer.consume("2026-01-02", "disk", 7).after).toMatchObject({
    balance: 0,
    resetsAt: at("2026-01-08"),
  });
  expect(customer.consume("2026-01-08", "disk").after?.balance).toBe(6);
  expect(customer.check("2026-01-08", "image").before).toMatchObject({
    balance: 90,
    resetsAt: at("2026-02-01"),
  });
});

test("a plan version with reach `now` leaves the new allowance minus the used credits", () => {
  const smaller = { reach: "now" as const, publishedAt: at("2026-01-10"), allowances: [monthly(50)] };
  const larger = { reach: "now" as const, publishedAt: at("2026-01-20"), allowances: [monthly(200)] };
  const customer = new Timeline(makeCatalog({ pro: [{}, smaller, larger] }));
  customer.catalog = makeCatalog({ pro: [{}] });
  customer.assign("2026-01-01", "pro");
  customer.consume("2026-01-05", "image", 8);
  customer.catalog = makeCatalog({ pro: [{}, smaller] });
  expect(customer.consume("2026-01-12", "export").reason).toBe("feature_not_in_plan");
  expect(customer.balance).toBe(0);
  customer.catalog = makeCatalog({ pro: [{}, smaller, larger] });
  expect(customer.check("2026-01-21", "image").before).toMatchObject({
    balance: 120,
    resetsAt: at("2026-02-01"),
  });
});

test("a plan version with reach `next_period` takes effect in the next period, with its own costs", () => {
  const next = {
    reach: "next_period" as const,
    publishedAt: at("2026-01-10"),
    cost: { credits: 20, per: 1 },
    features: { image: null },
  };
  const customer = new Timeline(makeCatalog({ pro: [{}] }));
  customer.assign("2026-01-01", "pro");
  customer.catalog = makeCatalog({ pro: [{}, next] }, { changedAt: at("2026-01-10") });
  expect(customer.check("2026-01-31T23:59:59", "image").creditsRequired).toBe(10);
  expect(customer.check("2026-02-01", "image").creditsRequired).toBe(20);
});

test("after years without requests, only a few entries are written, with and without rollover", () => {
  for (const rollover of [0, 1, 12]) {
    const allowance = { pool: CREDITS, credits: 10, period: "day" as const, rollover, overage: 0 };
    const customer = new Timeline(makeCatalog({ pro: [{ allowances: [allowance] }] }));
    customer.assign("2020-01-01", "pro");
    expect(customer.check("2026-01-01T12:00:00", "image").before?.balance).toBe(10 * (rollover + 1));
    customer.consume("2026-01-01T12:00:00", "image");
    expect(customer.entries.length).toBeLessThanOrEqual(4 + rollover);
  }
});
