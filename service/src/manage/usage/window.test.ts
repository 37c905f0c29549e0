import { expect, test } from "vitest";
import { ageHistory } from "../../../test/age-history.ts";
import { setupManage } from "../../../test/manage.ts";
import { ask, type Sum, settle } from "../../../test/usage.ts";

const DAY_MS = 24 * 3_600_000;
type Range = { from: string; to: string; windowStart: string | null };
const iso = (ms: number): string => new Date(ms).toISOString();

test("an event one second outside the history window is in no chart or total until the window is widened", async () => {
  const managed = await setupManage();
  const { database, record } = managed;
  const setDays = (days: number | null) =>
    database.query("update control.workspace_plans set history_days_max = $1", [days]);
  await setDays(10);
  const { windowStart } = await ask(managed, "usage?source=events");
  const start = Date.parse(String(windowStart));
  expect(Date.now() - 10 * DAY_MS - start).toBeLessThanOrEqual(0);
  expect(start - (Date.now() - 10 * DAY_MS)).toBeLessThan(15 * 60_000);
  await record({ customerId: "out", event: "outside", quantity: 1, timestamp: iso(start - 1_000) });
  await record({ customerId: "in", event: "inside", quantity: 5, timestamp: iso(start + 30 * 60_000) });
  await settle(managed);
  const from = `from=${iso(start - DAY_MS)}`;
  const quantities = async (): Promise<unknown[]> => [
    (await ask(managed, `usage?source=events&${from}`)).total.quantity,
    (await ask(managed, `usage?source=events&bucket=hour&${from}&groupBy=event`)).lines.map(({ key }) => key),
    (await ask(managed, `usage?source=events&${from}&groupBy=customer`)).total.quantity,
    (await ask(managed, `usage?source=events&${from}&groupBy=metadata&metadataField=x`)).total.quantity,
    (await ask<{ events: Sum }>(managed, `usage/totals?${from}`)).events.quantity,
    (await ask<{ total: Sum }>(managed, `usage/customers?source=events&${from}`)).total.quantity,
    (await ask(managed, `usage?source=events&customerId=out&${from}`)).total.quantity,
  ];
  expect(await quantities()).toEqual([5, ["inside"], 5, 5, 5, 5, 0]);
  // A range before the window is empty.
  const before = `${from}&to=${iso(start - DAY_MS / 2)}`;
  for (const path of ["usage?source=events&", "usage/totals?", "usage/customers?source=events&"]) {
    const { from: shownFrom, to, windowStart: edge } = await ask<Range>(managed, `${path}${before}`);
    expect([shownFrom, to]).toEqual([edge, edge]);
  }
  await setDays(11);
  expect(await quantities()).toEqual([6, ["inside", "outside"], 6, 6, 6, 6, 1]);
  await setDays(1);
  expect(await quantities()).toEqual([0, [], 0, 0, 0, 0, 0]);
  await setDays(null);
  expect((await ask(managed, "usage")).windowStart).toBeNull();
  expect(await quantities()).toEqual([6, ["inside", "outside"], 6, 6, 6, 6, 1]);
});

test("a customer's balance over time matches the ledger", async () => {
  const managed = await setupManage();
  const { consume, topUp, database } = managed;
  await topUp("ada", 1000);
  for (let i = 0; i < 20; i++)
    await consume({ customerId: "ada", feature: "image.render", idempotencyKey: `k-${i}` });
  await database.query("alter table cell.ledger disable trigger user");
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  // One entry a day, up to yesterday.
  await database.query(
    "update cell.ledger set recorded_at = date_trunc('day', now()) - (24 - sequence) * interval '1 day', effective_at = null",
  );
  const [last] = await database.query("select max(sequence)::integer as n from cell.ledger");
  type History = { from: string; to: string; opening: number; points: { at: string; balance: number }[] };
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const path = `customers/ada/balance-history?from=${iso(midnight - 30 * DAY_MS)}&to=${iso(midnight + DAY_MS)}`;
  const { opening, points } = await ask<History>(managed, path);
  const entries = await database.query(
    "select extract(epoch from recorded_at)::bigint::text as at, balance_after::integer as balance from cell.ledger order by sequence",
  );
  expect(opening).toBe(0);
  expect(points).toHaveLength(31);
  for (const { at, balance } of points) {
    const before = entries.filter((entry) => Number(entry["at"]) * 1000 < Date.parse(at) + DAY_MS);
    expect({ at, balance }).toEqual({ at, balance: before.at(-1)?.["balance"] ?? 0 });
  }
  expect(Number(last?.["n"])).toBe(entries.length);
  await database.query("update control.workspace_plans set history_days_max = 5");
  const clipped = await ask<History>(managed, path);
  expect(clipped.points.length).toBeLessThan(8);
  expect(clipped.opening).toBeGreaterThan(0);
  const { from: edge, opening: atEdge } = clipped;
  for (const days of [6, 10, 20]) {
    const before = `customers/ada/balance-history?from=${iso(midnight - 30 * DAY_MS)}&to=${iso(midnight - days * DAY_MS)}`;
    expect(await ask<History>(managed, before)).toMatchObject({
      from: edge,
      to: edge,
      opening: atEdge,
      points: [],
    });
  }
  expect((await managed.manage("GET", "customers/nobody/balance-history")).status).toBe(404);
});

test("a reversal does not show metadata from a charge before the window", async () => {
  const managed = await setupManage();
  const { consume, manage, database } = managed;
  const charge = { customerId: "ada", feature: "image.render", metadata: { project: "apollo" } };
  await consume({ ...charge, idempotencyKey: "k" });
  await ageHistory(database, 2 * DAY_MS);
  const { body } = await manage("GET", "customers/ada/ledger?kind=consume");
  const [entry] = body["items"] as { consumeId: string }[];
  expect(
    (await manage("POST", `customers/ada/consumes/${entry?.consumeId}/reverse`, { body: {} })).status,
  ).toBe(200);
  const values = async () =>
    (await ask(managed, "usage?source=charges&groupBy=metadata&metadataField=project")).lines.map(
      ({ key }) => key,
    );
  expect(await values()).toEqual(["apollo"]);
  await database.query("update control.workspace_plans set history_days_max = 1");
  expect(await values()).toEqual([null]);
});
