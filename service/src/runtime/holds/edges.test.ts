import { expect, test } from "vitest";
import { expectVerified, expireHolds, openHolds, setupHolds, windBackHolds } from "../../../test/holds.ts";
import { setupManage } from "../../../test/manage.ts";
import { rounds } from "../../../test/rounds.ts";
import { DAY_MS } from "../../../test/wind-back.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../primitives/brand.ts";
import { nameHold, parseHoldId } from "../../primitives/hold-id.ts";

const TEXT = { feature: "text.generate", quantity: 10_000 }; // 30 credits

test("a repeated settlement gets the original response even if the metadata limit has since been lowered", {
  timeout: 60_000,
}, async () => {
  const managed = await setupManage();
  const { open, settle, hold } = openHolds(managed);
  const holdId = await open(TEXT);
  const body = { quantity: 1_000, metadata: { text: "x".repeat(500) } };
  const first = await settle(holdId, body);
  await managed.manage("PATCH", "/manage/v1/workspace", { body: { limits: { metadataBytesMax: 100 } } });
  const isLowered = async () => (await hold({ ...TEXT, quantity: 1, metadata: body.metadata })).body["code"];
  await expect.poll(isLowered, { timeout: 15_000, interval: 200 }).toBe("metadata_limit_exceeded");
  expect((await settle(holdId, body)).text).toBe(first.text);
  const other = await open({ ...TEXT, quantity: 1 });
  expect((await settle(other, body)).body["code"]).toBe("metadata_limit_exceeded");
});

test("a settlement is a repeat even if its items are reordered or its unused items are omitted", async () => {
  const { hold, settle } = await setupHolds();
  const items = [TEXT, { feature: "image.render", quantity: 2 }, { feature: "export", quantity: 1 }];
  const holdId = String((await hold({ items })).body["holdId"]);
  const unused = { feature: "export", quantity: 0 };
  const first = await settle(holdId, { items: [...items.slice(0, 2), unused] });
  expect(first.body["creditsCharged"]).toBe(50);
  const again = await settle(holdId, { items: items.slice(0, 2).toReversed() });
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("forged hold IDs and cursors return 404 or 400, never 500", async () => {
  const { open, settle, release, extend, read } = await setupHolds();
  const holdId = await open(TEXT);
  const id = parseHoldId(holdId);
  if (id === null) throw new Error(`${holdId} is not a hold ID`);
  const forged = [
    `hld_${"7".repeat(26)}`,
    `hld_${"z".repeat(26)}`,
    `hld_${"0".repeat(26)}`,
    nameHold({ ...id, customerNumber: brandAs<CustomerNumber>(2 ** 40 - 1) }),
    nameHold({ ...id, number: 0x7fff_ffff }),
    nameHold({ ...id, number: 2 ** 40 - 1 }),
    nameHold({ ...id, number: 0 }),
    nameHold({ ...id, openedAt: brandAs<Instant>(0) }),
    holdId.replace("hld", "con"),
    holdId.toUpperCase(),
    `${holdId}%00`,
    "x".repeat(65),
  ];
  for (const each of forged) {
    const replies = [settle(each), release(each), extend(each), read(`/v1/holds/${each}`)];
    for (const { status } of await Promise.all(replies))
      expect([each, [400, 404].includes(status)]).toEqual([each, true]);
    expect([200, 400]).toContain((await read(`/v1/customers/ada/holds?cursor=${each}`)).status);
  }
  for (const query of ["?limit=0", "?limit=201", "?status=closed", "?x=1", "?cursor="])
    expect((await read(`/v1/customers/ada/holds${query}`)).status).toBe(400);
});

test("holds from before the history window are not shown", { timeout: 60_000 }, async () => {
  const managed = await setupManage();
  const { open, settle, read, database } = openHolds(managed);
  const holdId = await open(TEXT);
  await settle(holdId);
  await managed.manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax: 1 } } });
  const rename = await windBackHolds(database, 40 * DAY_MS);
  const list = async () => (await read("/v1/customers/ada/holds")).body["items"];
  await expect.poll(list, { timeout: 15_000, interval: 200 }).toEqual([]);
  expect((await read(`/v1/holds/${rename(holdId)}`)).status).toBe(404);
});

test("until the upgrade is finished, the request log contains only endpoints that the older release knows", async () => {
  const { hold, check, database } = await setupHolds();
  await database.query("update cell.identity set data_format = 1");
  expect((await hold(TEXT)).body["code"]).toBe("upgrade_unfinished");
  await check({ customerId: "ada", feature: "export" });
  await expect.poll(() => database.count("cell.request_counts"), { interval: 50 }).toBe(1);
  expect(await database.count("cell.request_counts", "endpoint = 'check'")).toBe(1);
  expect(await database.count("cell.request_log", "endpoint = 'check'")).toBe(1);
  expect(await database.count("cell.request_log")).toBe(1);
});

test("the sums of a settlement are exact, even if the price exceeds 53 bits", async () => {
  const { hold, settle, publish, assign, cell, context } = await setupHolds();
  const features = Array.from({ length: 13 }, (_, index) => `big.${index}`);
  for (const key of features)
    await defineFeature(cell, context, {
      ...{ key, name: key, unit: null, pool: "credits" },
      cost: { credits: 999_999_999, per: 1 },
    });
  const allowances = [
    { pool: "credits", credits: 10 ** 12, period: "month" as const, rollover: 0, overage: 0 },
  ];
  await publish({
    key: "big",
    name: "Big",
    allowances,
    features: features.map((feature) => ({ feature, limit: null })),
  });
  await assign("rich", "big");
  const items = (quantity: number) => features.map((feature) => ({ feature, quantity }));
  const opened = await hold({ customerId: "rich", items: items(1) });
  const used = { customerId: "rich", atMostHeld: true, items: items(999_999) };
  const { body } = await settle(String(opened.body["holdId"]), used);
  expect(body).toMatchObject({
    creditsCharged: 13 * 999_999_999,
    creditsReleased: 0,
    creditsUncovered: Number.MAX_SAFE_INTEGER,
  });
});

test("if a manual release and a settlement arrive at the same time, exactly one wins", {
  timeout: 120_000,
}, async () => {
  const managed = await setupManage();
  const { open, settle, balance, assign, database } = openHolds(managed);
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const holdId = await open({ ...TEXT, customerId });
    const [byHand, settled] = await Promise.all([
      managed.manage("POST", `customers/${customerId}/holds/${holdId}/release`, { body: {} }),
      settle(holdId, { customerId, quantity: 1_000 }),
    ]);
    const codes = [byHand.body["code"] ?? 200, settled.body["code"] ?? 200];
    expect([
      [200, "hold_released"],
      ["hold_settled", 200],
    ]).toContainEqual(codes);
    expect(await balance(customerId)).toBe(byHand.status === 200 ? 100 : 97);
  }
  await expectVerified(database);
});

test("a batch of checks for a customer with 1,000 expired holds ends those holds only once", {
  timeout: 120_000,
}, async () => {
  const { open, check, topUp, database } = await setupHolds();
  await topUp("ada", 1_000);
  await Promise.all(Array.from({ length: 1_000 }, () => open({ feature: "text.generate", quantity: 1 })));
  await expireHolds(database);
  const ask = async () => {
    const startMs = performance.now();
    await check({ customerId: "ada", feature: "export" });
    return performance.now() - startMs;
  };
  await ask();
  const oneMs = await ask();
  const startMs = performance.now();
  await Promise.all(Array.from({ length: 50 }, ask));
  // The 50 checks run in a few batches. Ending the holds for each check would take 50 times as long.
  expect(performance.now() - startMs).toBeLessThan(15 * Math.max(oneMs, 20));
});

test("a hold that expired before the wallet's last decision counts as ended, even if this process's clock is behind", async () => {
  const { open, settle, balance, database } = await setupHolds();
  const holdId = await open({ ...TEXT, expiresInSeconds: 120 });
  await database.query("update cell.wallets set decided_at = clock_timestamp() + interval '5 minutes'");
  expect((await settle(holdId)).body).toMatchObject({ status: "settled", late: true, creditsCharged: 30 });
  expect(await balance()).toBe(70);
});
