import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { openingBalances } from "./opening-balances.ts";

const smaller = {
  reach: "new_assignments" as const,
  publishedAt: at("2026-01-02"),
  allowances: [monthly(60)],
};
const yearly = {
  reach: "new_assignments" as const,
  publishedAt: at("2026-01-02"),
  allowances: [{ ...monthly(900), period: "year" as const }],
};

const catalog = makeCatalog({
  pro: [{ allowances: [monthly(100)] }],
  rolling: [{ allowances: [monthly(100, 1)] }],
  shrunk: [{ allowances: [monthly(100)] }, smaller],
  longer: [{ allowances: [monthly(100)] }, yearly],
  bare: [{ allowances: [] }],
});

function customerOn(plan: string): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

/** The opening balances at a time, without the plan. */
function open({ wallet }: Timeline, when: string) {
  const { allowances, credits } = openingBalances(catalog, wallet, at(when));
  return {
    allowances: allowances.map(({ remaining }) => remaining),
    credits: credits.map(({ kind, credits: amount, expiresAt }) => [kind, amount, expiresAt]),
  };
}

test("opening balances contain the plan with its anchor, the remaining allowance, and credits by kind and expiry", () => {
  const customer = customerOn("pro");
  customer.topUp("2026-01-02", 50);
  customer.topUp("2026-01-02", 5, { kind: "manual", expiresAt: at("2027-01-01") });
  customer.consume("2026-01-03", "image", 4);
  expect(openingBalances(catalog, customer.wallet, at("2026-01-04"))).toMatchObject({
    plan: { plan: { key: "pro" }, anchor: at("2026-01-01"), endsAt: null },
    allowances: [{ pool: CREDITS, remaining: 60 }],
  });
  expect(open(customer, "2026-01-04").credits).toEqual([
    ["manual", 5, at("2027-01-01")],
    ["purchase", 50, null],
  ]);
  // A due renewal is included.
  expect(open(customer, "2026-02-04").allowances).toEqual([100]);
});

test("credits that rolled over become manual credits with the same expiry", () => {
  const customer = customerOn("rolling");
  customer.consume("2026-01-03", "image", 4);
  expect(open(customer, "2026-02-04")).toEqual({
    allowances: [100],
    credits: [["manual", 60, at("2026-03-01")]],
  });
});

test("credits beyond the latest version's allowance become manual credits with the same expiry", () => {
  const shrunk = new Timeline(catalog);
  shrunk.assign("2026-01-01", "shrunk");
  expect(open(shrunk, "2026-01-04")).toEqual({
    allowances: [60],
    credits: [["manual", 40, at("2026-02-01")]],
  });
  expect(open(customerOn("longer"), "2026-01-04")).toEqual({
    allowances: [0],
    credits: [["manual", 100, at("2026-02-01")]],
  });
});

test("holds count as released, except on a plan that the customer has left", () => {
  const customer = customerOn("pro");
  customer.topUp("2026-01-02", 50);
  customer.hold("2026-01-03", { image: 12 }, { seconds: 86_400 });
  expect(open(customer, "2026-01-03")).toEqual({ allowances: [100], credits: [["purchase", 50, null]] });
  customer.assign("2026-01-03", "bare");
  expect(open(customer, "2026-01-03")).toEqual({ allowances: [], credits: [["purchase", 50, null]] });
});

test("held credits that have expired are left out", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-02", 50, { kind: "manual", expiresAt: at("2026-01-04") });
  customer.topUp("2026-01-02", 30);
  customer.hold("2026-01-03", { image: 6 }, { seconds: 7 * 86_400 });
  expect(open(customer, "2026-01-03").credits).toEqual([
    ["purchase", 30, null],
    ["manual", 50, at("2026-01-04")],
  ]);
  expect(open(customer, "2026-01-05").credits).toEqual([["purchase", 30, null]]);
});

test("the opening balances of a customer without a plan contain only credits", () => {
  const customer = new Timeline(catalog);
  customer.topUp("2026-01-02", 50);
  expect(openingBalances(catalog, customer.wallet, at("2026-01-03"))).toMatchObject({
    plan: null,
    allowances: [],
  });
});
