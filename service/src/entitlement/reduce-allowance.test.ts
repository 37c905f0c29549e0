import { expect, test } from "vitest";
import { at, makeCatalog, monthly, STORAGE } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

const larger = { reach: "now" as const, publishedAt: at("2026-01-20"), allowances: [monthly(120)] };

const catalog = makeCatalog({
  pro: [{ allowances: [monthly(100)] }],
  grown: [{ allowances: [monthly(100)] }, larger],
  bare: [{ allowances: [] }],
});

function customerOn(plan: string, remaining: number): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-10", plan, { anchor: at("2025-06-05") });
  customer.reduce("2026-01-10", remaining);
  return customer;
}

test("an allowance is reduced to the given remainder, and renews in full on the anchor's day", () => {
  const customer = customerOn("pro", 30);
  expect(customer.balance).toBe(30);
  expect(customer.entries.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["grant", 100],
    ["revoke", -70],
  ]);
  customer.consume("2026-01-11", "image", 3);
  expect(customer.consume("2026-01-12", "image").allowed).toBe(false);
  expect(customer.check("2026-02-05", "image").before).toMatchObject({
    balance: 100,
    resetsAt: at("2026-03-05"),
  });
});

test("a reduction never adds credits", () => {
  const customer = customerOn("pro", 100);
  expect(customer.reduce("2026-01-10", 101)).toEqual({ kind: "above_remaining", remaining: 100 });
  customer.reduce("2026-01-10", 40);
  expect(customer.reduce("2026-01-10", 41)).toEqual({ kind: "above_remaining", remaining: 40 });
  expect(customer.reduce("2026-01-10", 40)).toMatchObject({ kind: "unchanged" });
  expect(customer.balance).toBe(40);
});

test("purchased credits and other pools are not reduced", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-10", "pro");
  customer.topUp("2026-01-10", 50);
  customer.reduce("2026-01-10", 0);
  expect(customer.balance).toBe(50);
  expect(customer.reduce("2026-01-10", 0, STORAGE)).toEqual({ kind: "no_allowance" });
  customer.assign("2026-01-11", "bare");
  expect(customer.reduce("2026-01-11", 0)).toEqual({ kind: "no_allowance" });
});

test("a new plan version counts the removed credits as used", () => {
  const customer = customerOn("grown", 30);
  expect(customer.check("2026-01-21", "image").before?.balance).toBe(50);
});

test("a plan that the customer leaves and resumes still has the reduced allowance", () => {
  const customer = customerOn("pro", 30);
  customer.assign("2026-01-12", "bare");
  expect(customer.balance).toBe(0);
  customer.assign("2026-01-13", "pro");
  expect(customer.balance).toBe(30);
});

test("a reversal returns the charge, but not the credits that the reduction removed", () => {
  const customer = customerOn("pro", 30);
  const { entry } = customer.consume("2026-01-11", "image", 2);
  customer.reverse("2026-01-12", entry);
  expect(customer.balance).toBe(30);
});
