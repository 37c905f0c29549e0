import { expect, test } from "vitest";
import { at, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { RollForward } from "./roll-forward.ts";

const daily = { quantity: 5, period: "day" } as const;
const catalog = makeCatalog({
  pro: [
    { features: { image: null, export: daily } },
    { publishedAt: at("2026-01-10"), reach: "now", allowances: [monthly(200)], features: { image: null } },
  ],
  bare: [{ allowances: [], features: { image: null, export: daily } }],
  counted: [
    { allowances: [], features: { export: { quantity: 10, period: "month" } } },
    { publishedAt: at("2026-01-05"), features: { export: null } },
  ],
});

/** A time on 1 January, in minutes after noon. */
const T = (minutes: number): string => `2026-01-01T12:${String(minutes).padStart(2, "0")}:00`;

function customerOn(plan = "bare"): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

test("a hold does not protect credits from revocation, even if an older grant in the same slot is spent", () => {
  for (const isHeld of [true, false]) {
    const customer = customerOn();
    customer.topUp(T(0), 100);
    customer.consume(T(0), "image", 9);
    customer.topUp(T(1), 100);
    const hold = isHeld ? customer.hold(T(2), { image: 11 }) : null;
    customer.revoke(T(3), 2);
    if (hold !== null) customer.release(T(4), hold);
    expect(customer.balance).toBe(10);
  }
});

test("revoked credits belong to the hold that set them aside, whichever hold ends first", () => {
  for (const isFirstSettled of [true, false]) {
    const customer = customerOn();
    customer.topUp(T(0), 100);
    customer.topUp(T(0), 100);
    const first = customer.hold(T(1), { image: 6 });
    const second = customer.hold(T(1), { image: 10 });
    customer.revoke(T(2), 1);
    if (isFirstSettled) customer.settle(T(3), first);
    customer.release(T(4), second);
    if (!isFirstSettled) customer.settle(T(5), first);
    // The first hold used 60 credits of the revoked grant, and the other grant is intact.
    expect(customer.balance).toBe(100);
  }
});

test("a second revocation does not affect holds that contain none of the revoked credits", () => {
  for (const isSecondSettled of [true, false]) {
    const customer = customerOn();
    customer.topUp(T(0), 100);
    const first = customer.hold(T(0), { image: 6 });
    customer.topUp(T(1), 100);
    customer.topUp(T(1), 10);
    customer.revoke(T(2), 1);
    const second = customer.hold(T(3), { image: 6 });
    customer.revoke(T(4), 3);
    if (isSecondSettled) customer.settle(T(5), second);
    else customer.settle(T(5), first);
    if (isSecondSettled) customer.release(T(6), first);
    else customer.release(T(6), second);
    expect(customer.balance).toBe(isSecondSettled ? 40 : 100);
  }
});

test("when the customer returns to a plan, its partly revoked allowance resumes without the revoked credits", () => {
  const customer = customerOn("pro");
  const hold = customer.hold("2026-01-09T12:00:00", { image: 6 }, { seconds: 86_400 });
  expect(customer.revoke("2026-01-09T13:00:00", 1)).toBe(40);
  // The new version grants 100 more.
  customer.extend("2026-01-10T01:00:00", hold, { quantity: 7 });
  customer.assign("2026-01-10T02:00:00", "bare");
  customer.release("2026-01-10T03:00:00", hold);
  customer.assign("2026-01-10T04:00:00", "pro");
  expect(customer.balance).toBe(100);
});

test("after the limit's period ends, a hold's quantity cannot be increased, but its expiry can be extended", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-01T23:59:00", { export: 1 }, { seconds: 86_400 });
  customer.consume("2026-01-02T00:00:10", "export", 5);
  expect(customer.extend("2026-01-02T00:00:30", hold, { quantity: 2 })).toMatchObject({
    kind: "denied",
    reason: "limit_reached",
    affordableQuantity: 1,
  });
  expect(customer.extend("2026-01-02T00:00:30", hold, { expiresAt: at("2026-01-03") }).kind).toBe("extended");
});

test("a released hold does not preserve a plan that the customer has left", () => {
  const versions = [true, false].map((isHeld) => {
    const customer = customerOn("counted");
    if (isHeld) customer.release(T(5), customer.hold(T(1), { export: 1 }));
    customer.assign("2026-01-06", "bare");
    customer.assign("2026-01-07", "counted");
    return customer.wallet.assignment?.version;
  });
  expect(versions[0]).toBe(versions[1]);
});

test("grants whose credits are all held count toward the maximum number of open grants", () => {
  const customer = customerOn();
  for (let i = 1; i <= 50; i++)
    customer.topUp(T(0), 10, { expiresAt: at(`2027-01-01T00:00:${i}`.replace(/:(\d)$/, ":0$1")) });
  customer.hold(T(1), { image: 50 });
  expect(customer.balance).toBe(0);
  expect(customer.topUp(T(2), 10)).toBe("too_many_grants");
});

test("a statement counts held credits as part of the balance", () => {
  const customer = customerOn();
  customer.topUp(T(0), 100);
  customer.hold(T(1), { image: 10 }, { onExpiry: "charge" });
  const roll = new RollForward({ from: at("2026-01-01"), until: at("2026-02-01") });
  roll.addWallet(customer.wallet, null);
  for (const { kind, pool, amount } of customer.entries)
    roll.addMoved({ pool, grantKind: "purchase", entryKind: kind, isAfter: false, amount: BigInt(amount) });
  expect(roll.lines()).toMatchObject([{ opening: 0n, granted: 100n, closing: 100n }]);
});
