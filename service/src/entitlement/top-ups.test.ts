import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly, STORAGE, watched } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { dueAt } from "./due-at.ts";
import { expireDue } from "./expire-due.ts";

const catalog = watched(
  makeCatalog({
    pro: [{ features: { image: null } }],
    plus: [{ features: { image: null }, allowances: [{ ...monthly(100), overage: 50 }] }],
  }),
  [50],
);

const DAY_MS = 86_400_000;
const RULE = { below: 50, credits: 200, monthlyMax: 2 };

/** A customer with 100 credits and a rule. An image costs 10. */
function ruled(topUp = RULE): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  customer.alerts("2026-01-01", { topUp });
  customer.notices.length = 0;
  return customer;
}

type Due = { readonly number: number; readonly attempt: number; readonly balance: number };

/** The requests for top-ups since the last call. */
const asked = (customer: Timeline): Due[] =>
  customer.notices
    .splice(0)
    .flatMap((notice) =>
      notice.type === "topup.due"
        ? [{ number: notice.topUp.number, attempt: notice.attempt, balance: notice.balance }]
        : [],
    );

test("a balance that falls below the threshold requests a top-up once", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 5);
  expect(asked(customer)).toEqual([]);
  customer.consume("2026-01-02", "image");
  const [, due] = customer.notices;
  expect(due).toEqual({
    type: "topup.due",
    ...{ pool: "pool 1", below: 50, balance: 40, credits: 200, attempt: 1 },
    topUp: { number: 1, requestedAt: at("2026-01-02") },
    effectiveAt: at("2026-01-02"),
  });
  customer.notices.length = 0;
  customer.consume("2026-01-02", "image");
  customer.reverse("2026-01-02", customer.entries.at(-1) ?? null);
  customer.consume("2026-01-02T23:59:59", "image");
  expect(asked(customer)).toEqual([]);
});

test("a rule set while the balance is below its threshold requests a top-up immediately", () => {
  const customer = ruled({ ...RULE, below: 10 });
  customer.consume("2026-01-02", "image", 6);
  expect(customer.alerts("2026-01-03", { topUp: RULE })).toBe("changed");
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 40 }]);
  expect(customer.alerts("2026-01-03", { topUp: RULE })).toBe("unchanged");
  expect(asked(customer)).toEqual([]);
});

test("a purchase closes the request, and other grants do not", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  asked(customer);
  customer.topUp("2026-01-03", 200, { kind: "manual" });
  customer.consume("2026-01-03", "image", 20);
  expect(asked(customer)).toEqual([{ number: 1, attempt: 2, balance: 40 }]);
  customer.topUp("2026-01-03", 200);
  customer.consume("2026-01-03", "image", 20);
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 40 }]);
});

test("a purchase of fewer credits than requested leaves the request open", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 10);
  customer.topUp("2026-01-02", 199);
  customer.consume("2026-01-02", "image", 19);
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 0 }]);
});

test("the payment of an earlier attempt closes the request, even if the rule now requests more", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 10);
  customer.alerts("2026-01-03", { topUp: { ...RULE, below: 500, credits: 1_000 } });
  expect(asked(customer)).toHaveLength(2);
  customer.topUp("2026-01-03", 200);
  customer.consume("2026-01-03", "image");
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 190 }]);
});

test("only usage and a new rule open a request, not a loss of credits", () => {
  const customer = ruled();
  customer.topUp("2026-01-02", 50);
  customer.revoke("2026-01-02", 2);
  customer.revoke("2026-01-02", 1);
  customer.assign("2026-01-03", "plus");
  customer.end("2026-01-04");
  customer.assign("2026-01-05", "pro");
  customer.catchUp("2026-01-06");
  expect(customer.wallet.alerts.topUps).toEqual([]);
  expect(customer.consume("2026-01-06", "image", 20).allowed).toBe(false);
  expect(asked(customer)).toMatchObject([{ number: 1, attempt: 1 }]);
});

test("an open request is repeated after one day, and then after twice the time, up to 32 days", () => {
  const customer = ruled();
  customer.consume("2026-01-02T12:00:00", "image", 10);
  customer.consume("2026-01-03T11:59:59", "image");
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 0 }]);
  customer.consume("2026-01-03T12:00:00", "image");
  expect(asked(customer)).toEqual([{ number: 1, attempt: 2, balance: 0 }]);
  const days: string[] = [];
  for (let day = at("2026-01-04T12:00:00"); day < at("2026-06-01"); day = brandAs<Instant>(day + DAY_MS)) {
    const date = new Date(day).toISOString().slice(0, 10);
    // The allowance of a new month is used, so that the balance stays below.
    customer.consume(`${date}T12:00:00`, "image", 10);
    if (asked(customer).length > 0) days.push(date);
  }
  expect(days).toEqual([
    "2026-01-05",
    "2026-01-09",
    "2026-01-17",
    "2026-02-02",
    "2026-03-06",
    "2026-04-07",
    "2026-05-09",
  ]);
});

test("a repeat counts in the month in which it is made", () => {
  const customer = ruled({ ...RULE, monthlyMax: 1 });
  customer.consume("2026-01-31T12:00:00", "image", 10);
  customer.consume("2026-02-01T12:00:00", "image", 10);
  expect(asked(customer)).toEqual([
    { number: 1, attempt: 1, balance: 0 },
    { number: 1, attempt: 2, balance: 0 },
  ]);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ month: at("2026-02-01"), requests: 1 }]);
  customer.topUp("2026-02-02", 200);
  customer.consume("2026-02-02", "image", 20);
  expect(asked(customer)).toEqual([]);
  customer.consume("2026-03-01", "image", 10);
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 0 }]);
});

test("a denied request repeats a request that is due, and writes nothing else", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 10);
  const entries = customer.entries.length;
  const { allowed } = customer.consume("2026-01-04", "image");
  expect(allowed).toBe(false);
  expect(customer.entries).toHaveLength(entries);
  expect(asked(customer)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
});

test("a rule that is removed and set again continues its request", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.alerts("2026-01-02");
  expect(customer.wallet.alerts).toMatchObject({ pools: [], topUps: [{ open: { number: 1 } }] });
  expect(dueAt(customer.wallet, at("2026-01-02"))).toBeNull();
  customer.alerts("2026-01-02T23:59:59", { topUp: RULE });
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 40 }]);
  customer.alerts("2026-01-02T23:59:59");
  customer.catchUp("2026-01-04");
  customer.alerts("2026-01-04", { topUp: RULE });
  expect(asked(customer)).toEqual([{ number: 1, attempt: 2, balance: 40 }]);
});

test("new thresholds do not open a request, but setting the rule again does", () => {
  const customer = ruled();
  customer.revoke("2026-01-02", 1);
  customer.alerts("2026-01-02", { topUp: RULE, lowBalances: [500] });
  expect(asked(customer)).toEqual([]);
  customer.alerts("2026-01-02");
  customer.alerts("2026-01-02", { topUp: RULE });
  expect(asked(customer)).toMatchObject([{ number: 1, attempt: 1 }]);
});

test("a purchase closes the request of a rule that was removed", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.alerts("2026-01-02");
  customer.topUp("2026-01-02", 200);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ requests: 1, open: null }]);
});

test("a changed rule keeps its request", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.alerts("2026-01-02", { topUp: { ...RULE, credits: 500 } });
  expect(asked(customer)).toHaveLength(1);
  customer.catchUp("2026-01-03");
  expect(customer.notices).toMatchObject([{ credits: 500, topUp: { number: 1 }, attempt: 2 }]);
});

test("nothing is requested for customers who are blocked or have no assigned plan", () => {
  const customer = ruled();
  customer.wallet = { ...customer.wallet, isBlocked: true };
  customer.consume("2026-01-02", "image", 6);
  expect(customer.consume("2026-01-02", "image", 20).allowed).toBe(false);
  customer.wallet = { ...customer.wallet, isBlocked: false };
  customer.catalog = watched(
    makeCatalog(
      { pro: [{ features: { image: null } }], plus: [{ features: { image: null } }] },
      { defaultPlan: "plus" },
    ),
    [50],
  );
  customer.end("2026-01-03");
  customer.consume("2026-01-03", "image", 6);
  expect(customer.wallet.assignment).toMatchObject({ isDefault: true });
  expect(asked(customer)).toEqual([]);
  customer.assign("2026-02-04", "pro", { anchor: at("2026-02-01") });
  customer.consume("2026-02-04", "image", 6);
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 40 }]);
});

test("held credits are part of the balance, and overage is not", () => {
  const customer = ruled();
  customer.assign("2026-01-02", "plus");
  const hold = customer.hold("2026-01-02", { image: 6 });
  expect(asked(customer)).toEqual([]);
  customer.settle("2026-01-02", hold, [12]);
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 0 }]);
});

test("without a webhook for this type, nothing is requested, but an open request is kept", () => {
  const customer = ruled();
  customer.catalog = { ...catalog, noticeTypes: new Set(["balance.low"]) };
  customer.consume("2026-01-02", "image", 6);
  expect(asked(customer)).toEqual([]);
  customer.catalog = catalog;
  customer.consume("2026-01-02", "image");
  expect(asked(customer)).toEqual([{ number: 1, attempt: 1, balance: 30 }]);
  customer.catalog = { ...catalog, noticeTypes: new Set() };
  customer.consume("2026-01-04", "image");
  expect(customer.wallet.alerts.topUps).toMatchObject([{ open: { number: 1, attempt: 1 } }]);
  expect(asked(customer)).toEqual([]);
  customer.topUp("2026-01-04", 200);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ open: null }]);
});

test("each pool has its own rule", () => {
  const customer = ruled();
  customer.alerts("2026-01-02", { pool: STORAGE, topUp: { below: 1, credits: 5, monthlyMax: 9 } });
  expect(customer.notices).toMatchObject([{ type: "topup.due", pool: "pool 2", balance: 0, credits: 5 }]);
  expect(customer.wallet.alerts.pools.map(({ pool }) => pool)).toEqual([STORAGE]);
  customer.topUp("2026-01-02", 5);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ pool: STORAGE, open: { number: 1 } }]);
});

test("a customer's own thresholds replace those of the pool", () => {
  const customer = ruled();
  customer.alerts("2026-01-01", { lowBalances: [30, 70] });
  expect(customer.wallet.alerts.pools).toEqual([{ pool: CREDITS, lowBalances: [70, 30], topUp: null }]);
  customer.consume("2026-01-02", "image", 6);
  expect(customer.notices).toMatchObject([{ type: "balance.low", threshold: 70, balance: 40 }]);
  customer.notices.length = 0;
  customer.alerts("2026-01-03", { lowBalances: [] });
  customer.topUp("2026-01-03", 60);
  customer.consume("2026-01-03", "image", 9);
  expect(customer.notices).toEqual([]);
});

test("a sweep of expiries repeats a request at the current time", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.topUp("2026-01-02", 100, { expiresAt: at("2026-01-10") });
  asked(customer);
  const now = at("2026-01-20T06:00:00");
  expect(expireDue(catalog, customer.wallet, now)).toMatchObject({
    entries: [{ kind: "expire", effectiveAt: at("2026-01-10") }],
    notices: [
      { type: "balance.low", effectiveAt: at("2026-01-10") },
      { type: "topup.due", topUp: { number: 1 }, attempt: 2, effectiveAt: now },
    ],
    due: { at: at("2026-01-22T06:00:00") },
  });
});

test("a request that cannot be repeated is checked again a day later", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  expect(dueAt(customer.wallet, at("2026-01-02"))).toEqual(at("2026-01-03"));
  expect(dueAt(customer.wallet, at("2026-01-05"))).toEqual(at("2026-01-06"));
  customer.topUp("2026-01-02", 200);
  expect(dueAt(customer.wallet, at("2026-01-02"))).toBeNull();
});
