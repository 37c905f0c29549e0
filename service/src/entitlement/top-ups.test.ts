import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly, STORAGE, watched } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { dueAt } from "./due-at.ts";
import { expireDue } from "./expire-due.ts";

const catalog = watched(
  makeCatalog({
    pro: [{ features: { image: null } }],
    plus: [{ features: { image: null }, allowances: [{ ...monthly(100), overage: 50 }] }],
  }),
  [50],
);

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

test("a rule that is set below its threshold requests a top-up immediately", () => {
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
  customer.topUp("2026-01-03", 100, { kind: "manual" });
  customer.consume("2026-01-03", "image", 10);
  expect(asked(customer)).toEqual([{ number: 1, attempt: 2, balance: 40 }]);
  customer.topUp("2026-01-03", 100);
  customer.consume("2026-01-03", "image", 10);
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 40 }]);
});

test("a purchase that is too small requests the next top-up at once, up to the maximum of the month", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 10);
  customer.topUp("2026-01-02", 1);
  customer.topUp("2026-01-02", 1);
  customer.topUp("2026-01-02", 1);
  expect(asked(customer)).toEqual([
    { number: 1, attempt: 1, balance: 0 },
    { number: 2, attempt: 1, balance: 1 },
  ]);
});

test("an open request is repeated after 24 hours, and the repeat does not count in the month", () => {
  const customer = ruled();
  customer.consume("2026-01-02T12:00:00", "image", 10);
  expect(asked(customer)).toHaveLength(1);
  customer.consume("2026-01-03T11:59:59", "image");
  expect(asked(customer)).toEqual([]);
  const repeat = { number: 1, balance: 0 };
  customer.consume("2026-01-03T12:00:00", "image");
  expect(asked(customer)).toEqual([{ ...repeat, attempt: 2 }]);
  customer.catchUp("2026-01-04T11:59:59");
  customer.catchUp("2026-01-06T12:00:00");
  customer.catchUp("2026-01-07T11:59:59");
  expect(asked(customer)).toEqual([{ ...repeat, attempt: 3 }]);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ requests: 1 }]);
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

test("a new month allows new requests, without a request from the customer", () => {
  const customer = ruled({ ...RULE, below: 200, monthlyMax: 1 });
  expect(customer.wallet.alerts.topUps).toMatchObject([{ requests: 1, open: { number: 1 } }]);
  customer.topUp("2026-01-02", 10);
  expect(dueAt(customer.wallet, at("2026-01-02"))).toEqual(at("2026-02-01"));
  customer.catchUp("2026-01-31T23:59:59");
  expect(asked(customer)).toEqual([]);
  customer.catchUp("2026-02-01");
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 110 }]);
});

test("removing a rule closes its request, and setting it again continues the month's count", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.alerts("2026-01-02");
  expect(customer.wallet.alerts).toMatchObject({ pools: [], topUps: [{ requests: 1, open: null }] });
  customer.catchUp("2026-01-05");
  expect(asked(customer)).toHaveLength(1);
  customer.alerts("2026-01-05", { topUp: RULE });
  customer.alerts("2026-01-05");
  customer.alerts("2026-01-05", { topUp: RULE });
  expect(asked(customer)).toEqual([{ number: 2, attempt: 1, balance: 40 }]);
});

test("a changed rule keeps its request", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  customer.alerts("2026-01-02", { topUp: { ...RULE, credits: 500 } });
  expect(asked(customer)).toHaveLength(1);
  customer.catchUp("2026-01-03");
  expect(customer.notices).toMatchObject([{ credits: 500, topUp: { number: 1 }, attempt: 2 }]);
});

test("nothing is requested for customers who are blocked or have no plan", () => {
  const customer = ruled();
  customer.wallet = { ...customer.wallet, isBlocked: true };
  customer.revoke("2026-01-02", 1);
  expect(asked(customer)).toEqual([]);
  customer.wallet = { ...customer.wallet, isBlocked: false };
  customer.end("2026-01-03");
  expect(asked(customer)).toEqual([]);
  customer.assign("2026-02-04", "plus", { anchor: at("2026-02-01") });
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
  customer.topUp("2026-01-04", 1);
  expect(customer.wallet.alerts.topUps).toMatchObject([{ open: null }]);
});

test("pools have rules of their own", () => {
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

test("a sweep requests a top-up at the present, not at the time of the expiry", () => {
  const customer = ruled({ ...RULE, below: 200 });
  customer.topUp("2026-01-02", 500, { expiresAt: at("2026-01-10") });
  asked(customer);
  const now = at("2026-01-20T06:00:00");
  expect(expireDue(catalog, customer.wallet, now)).toMatchObject({
    entries: [{ kind: "expire", effectiveAt: at("2026-01-10") }],
    notices: [{ type: "topup.due", topUp: { number: 2, requestedAt: now }, effectiveAt: now }],
    due: { at: at("2026-01-21T06:00:00") },
  });
});

test("a customer who cannot be asked is looked at again a day later", () => {
  const customer = ruled();
  customer.consume("2026-01-02", "image", 6);
  expect(dueAt(customer.wallet, at("2026-01-02"))).toEqual(at("2026-01-03"));
  expect(dueAt(customer.wallet, at("2026-01-05"))).toEqual(at("2026-01-06"));
  customer.topUp("2026-01-02", 100);
  expect(dueAt(customer.wallet, at("2026-01-02"))).toBeNull();
});
