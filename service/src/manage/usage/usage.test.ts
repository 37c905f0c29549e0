import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { ask, type Sum, settle } from "../../../test/usage.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { reverseConsume } from "../credits/reverse-consume.ts";
import { eraseCustomer } from "../customers/erase-customer.ts";

const DAY_MS = 24 * 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

test("days and hours follow the time zone, even with an offset such as +05:45", async () => {
  const managed = await setupManage();
  const { record } = managed;
  const noon = Math.floor(Date.now() / DAY_MS - 10) * DAY_MS;
  // Midnight in Kathmandu is at 18:15 UTC.
  const at = [18 * 60 + 14, 18 * 60 + 15, 20 * 60, 42 * 60 + 14, 42 * 60 + 15];
  for (const [i, minutes] of at.entries())
    await record({
      customerId: "ada",
      event: "e",
      quantity: 10 ** i,
      timestamp: iso(noon + minutes * 60_000 + 30_000),
    });
  await settle(managed);
  const range = `from=${iso(noon)}&to=${iso(noon + 3 * DAY_MS)}`;
  const zone = "timeZone=Asia/Kathmandu";
  const days = await ask(managed, `usage?source=events&${range}&${zone}`);
  expect(days.lines[0]?.points.map((point) => [point.at, point.count, point.quantity])).toEqual([
    [iso(noon - DAY_MS + (18 * 60 + 15) * 60_000), 1, 1],
    [iso(noon + (18 * 60 + 15) * 60_000), 3, 1110],
    [iso(noon + (42 * 60 + 15) * 60_000), 1, 10000],
  ]);
  expect(days.buckets).toHaveLength(4);
  expect(days.total).toEqual({ count: 5, quantity: 11111, credits: 0 });
  const hours = await ask(managed, `usage?source=events&bucket=hour&${range}&${zone}`);
  expect(hours.lines[0]?.points).toHaveLength(5);
  expect(hours.buckets).toHaveLength(73);
  const utc = await ask(managed, `usage?source=events&${range}`);
  expect(utc.lines[0]?.points.map(({ quantity }) => quantity)).toEqual([111, 11000]);
  const months = await ask(managed, `usage?source=events&bucket=month&${zone}`);
  expect(months.total.quantity).toBe(11111);
  expect(months.buckets.length).toBeGreaterThan(11);
  const ofCustomer = await ask(managed, `usage?source=events&customerId=ada&${range}&${zone}`);
  expect(ofCustomer.lines).toEqual(days.lines);
});

/** Ada renders 3 images (1 is reversed), exports once and is denied twice. Others render or send events. */
async function live(managed: Managed): Promise<void> {
  const { consume, record, topUp, assign, cell, context } = managed;
  await topUp("ada", 1000);
  for (const customer of ["bob", "cleo"]) await assign(customer);
  const render = async (customerId: string, quantity: number, key: string) =>
    (
      await consume({
        customerId,
        feature: "image.render",
        quantity,
        idempotencyKey: key,
        metadata: { model: key },
      })
    ).body;
  const { consumeId } = await render("ada", 3, "large");
  await render("ada", 3, "large");
  await render("bob", 2, "small");
  await render("cleo", 1, "small-2");
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "export" });
  await render("ada", 500, "too-much");
  await consume({ customerId: "ada", feature: "video.render", idempotencyKey: "video" });
  await reverseConsume(cell, context, { consumeId: String(consumeId), quantity: 1 });
  for (let i = 1; i <= 5; i++)
    await record({
      customerId: `c-${i}`,
      event: `event.${i}`,
      quantity: i,
      metadata: { plan: i % 2 === 0 ? "a" : "b" },
    });
  await settle(managed);
}

test("usage has the largest lines and one line for all others, and reversals are subtracted", async () => {
  const managed = await setupManage();
  await live(managed);
  const all = await ask(managed, "usage");
  expect(all.total).toEqual({ count: 4, quantity: 6, credits: 50 });
  const byFeature = await ask(managed, "usage?groupBy=feature");
  expect(byFeature.lines.map(({ key, total }) => [key, total])).toEqual([
    ["image.render", { count: 3, quantity: 5, credits: 50 }],
    ["export", { count: 1, quantity: 1, credits: 0 }],
  ]);
  const top = await ask(managed, "usage?source=events&groupBy=event&limit=2");
  expect(top.lines.map(({ key, total }) => [key, total.quantity])).toEqual([
    ["event.5", 5],
    ["event.4", 4],
  ]);
  expect(top.other?.total).toEqual({ count: 3, quantity: 6, credits: 0 });
  const byCount = await ask(managed, "usage?groupBy=customer&limit=1&by=count");
  expect(byCount.lines.map(({ key, total }) => [key, total])).toEqual([
    ["ada", { count: 2, quantity: 3, credits: 20 }],
  ]);
  expect(byCount.other?.total).toEqual({ count: 2, quantity: 3, credits: 30 });
  expect((await ask(managed, "usage?feature=export")).total.count).toBe(1);
  expect((await ask(managed, "usage?pool=credits&customerId=bob")).total.credits).toBe(20);
  const reasons = await ask(managed, "usage?source=denials&groupBy=reason");
  expect(reasons.lines.map(({ key, total }) => [key, total.count, total.quantity])).toEqual([
    ["feature_not_in_plan", 1, 1],
    ["insufficient_credits", 1, 500],
  ]);
});

test("usage is grouped by a metadata field, and a reversal is counted under its charge's value", async () => {
  const managed = await setupManage();
  await live(managed);
  const models = await ask(managed, "usage?groupBy=metadata&metadataField=model&limit=2");
  expect(models.lines.map(({ key, total }) => [key, total])).toEqual([
    ["large", { count: 1, quantity: 2, credits: 20 }],
    ["small", { count: 1, quantity: 2, credits: 20 }],
  ]);
  expect(models.other?.total).toEqual({ count: 2, quantity: 2, credits: 10 });
  const plans = await ask(managed, "usage?source=events&groupBy=metadata&metadataField=plan");
  expect(plans.lines.map(({ key, total }) => [key, total.quantity])).toEqual([
    ["b", 9],
    ["a", 6],
  ]);
  const nothing = await ask(managed, "usage?source=events&groupBy=metadata&metadataField=none");
  expect(nothing.lines.map(({ key }) => key)).toEqual([null]);
});

test("usage totals, decision counts and the customer ranking are consistent", async () => {
  const managed = await setupManage();
  await live(managed);
  const totals = await ask<Record<string, unknown>>(managed, "usage/totals");
  expect(totals["events"]).toEqual({ count: 5, quantity: 15, credits: 0 });
  expect(totals["charges"]).toEqual([{ pool: "credits", count: 4, quantity: 6, credits: 50 }]);
  expect(totals["denials"]).toMatchObject([
    { reason: "feature_not_in_plan", count: 1 },
    { reason: "insufficient_credits", count: 1, quantity: 500 },
  ]);
  const ofBob = await ask<Record<string, unknown>>(managed, "usage/totals?customerId=bob");
  expect(ofBob["charges"]).toEqual([{ pool: "credits", count: 1, quantity: 2, credits: 20 }]);
  type Decisions = { buckets: { allowed: number; denied: { reason: string; count: number }[] }[] };
  const { buckets } = await ask<Decisions>(managed, "usage/decisions");
  expect(buckets.reduce((sum, { allowed }) => sum + allowed, 0)).toBe(4);
  expect(buckets.flatMap(({ denied }) => denied).sort((a, b) => (a.reason < b.reason ? -1 : 1))).toEqual([
    { reason: "feature_not_in_plan", count: 1 },
    { reason: "insufficient_credits", count: 1 },
  ]);
  const video = await ask<Decisions>(managed, "usage/decisions?feature=video.render&customerId=ada");
  expect(video.buckets.flatMap(({ denied }) => denied)).toEqual([
    { reason: "feature_not_in_plan", count: 1 },
  ]);
  type Ranking = { customers: (Sum & { customerId: string | null })[]; total: Sum; other: Sum };
  // Ranges of whole days, from one to several months.
  const month = 31 * DAY_MS;
  for (const back of [1, 40, 100]) {
    const from = Math.floor(Date.now() / DAY_MS - back) * DAY_MS;
    const path = `usage/customers?limit=2&from=${iso(from)}&to=${iso(from + back * DAY_MS + 2 * month)}`;
    const ranking = await ask<Ranking>(managed, path);
    expect(ranking.customers).toEqual([
      { customerId: "ada", customerName: null, count: 2, quantity: 3, credits: 20 },
      { customerId: "bob", customerName: null, count: 1, quantity: 2, credits: 20 },
    ]);
    expect(ranking.other).toEqual({ count: 1, quantity: 1, credits: 10 });
  }
  const timestamp = iso(Date.now() - 34 * DAY_MS);
  await managed.record({ customerId: "late", event: "late", quantity: 100, timestamp });
  await settle(managed);
  const from = Math.floor(Date.now() / DAY_MS - 100) * DAY_MS;
  const late = await ask<Ranking>(managed, `usage/customers?source=events&limit=1&from=${iso(from)}`);
  expect(late.customers).toMatchObject([{ customerId: "late", count: 1, quantity: 100 }]);
  expect(late.total.quantity).toBe(115);
});

test("an erased customer's usage stays in every total, without the customer's ID", async () => {
  const managed = await setupManage();
  await live(managed);
  const before = await ask(managed, "usage");
  await eraseCustomer(managed.cell, managed.context, { customerId: brandAs<CustomerId>("ada") });
  await settle(managed);
  expect((await ask(managed, "usage")).lines).toEqual(before.lines);
  type Ranking = { customers: { customerId: string | null; credits: number }[] };
  const { customers } = await ask<Ranking>(managed, "usage/customers?limit=1");
  expect(customers).toMatchObject([{ customerId: null, credits: 20 }]);
  expect((await managed.manage("GET", "usage?customerId=ada")).status).toBe(404);
});

test("an invalid query is rejected and names the field", async () => {
  const { manage } = await setupManage();
  const refused = {
    "usage?from=2026-01-01T00:01:00Z": "from",
    "usage?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "from",
    "usage?bucket=hour&from=2020-01-01T00:00:00Z": "from",
    "usage?timeZone=Mars/Olympus": "timeZone",
    "usage?timeZone=%2B05:30": "timeZone",
    "usage?source=events&groupBy=feature": "groupBy",
    "usage?groupBy=metadata": "metadataField",
    "usage?metadataField=x": "metadataField",
    "usage?event=x": "event",
    "usage?feature=no.such": "feature",
    "usage?pool=no-such": "pool",
    "usage?limit=101": "limit",
    "usage/customers?bucket=day": "bucket",
  };
  for (const [path, field] of Object.entries(refused)) {
    const { status, body } = await manage("GET", path);
    expect({ path, status, errors: body["errors"] }).toMatchObject({
      path,
      status: 400,
      errors: [{ field }],
    });
  }
});
