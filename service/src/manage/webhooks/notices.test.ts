import { expect, test } from "vitest";
import { expectDone, type Notified, setupNotified, startReceiver } from "../../../test/webhooks.ts";

type Item = Record<string, unknown>;

async function list({ manage }: Notified, query = ""): Promise<Item[]> {
  return expectDone(await manage("GET", `notices${query}`))["items"] as Item[];
}

async function setup(): Promise<Notified> {
  const notified = await setupNotified();
  await notified.listen(await startReceiver());
  return notified;
}

const charge = ({ consume }: Notified, customerId: string, quantity: number) =>
  consume({
    customerId,
    feature: "image.render",
    quantity,
    idempotencyKey: `${customerId}-${quantity}`,
  });

test("crossed thresholds, limits and plan changes are listed newest first, for all customers or one", async () => {
  const notified = await setup();
  const { manage, consume } = notified;
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("PUT", "customers/bob", { body: { name: "Bob" } });
  await charge(notified, "bob", 6);
  await charge(notified, "ada", 10);
  await consume({ customerId: "ada", feature: "export", quantity: 5, idempotencyKey: "exports" });
  const ofBob = await list(notified, "?customerId=bob");
  expect(ofBob).toEqual([
    {
      id: expect.stringMatching(/^ntc_/),
      type: "balance.low",
      customerId: "bob",
      customerName: "Bob",
      data: { customerId: "bob", sequence: 2, pool: "credits", threshold: 50, balance: 40 },
      recordedAt: expect.any(String),
      sequence: 2,
      effectiveAt: expect.any(String),
    },
  ]);
  const all = await list(notified);
  expect(all.map(({ type, customerId }) => `${type} ${customerId}`)).toEqual([
    "limit.reached ada",
    "balance.depleted ada",
    "balance.low ada",
    "balance.low ada",
    "balance.low bob",
  ]);
  expect(all[0]?.["data"]).toMatchObject({ feature: "export", limit: 5, resetsAt: expect.any(String) });
  expect(await list(notified, "?customerId=nobody")).toEqual([]);
  const walked: Item[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await manage("GET", `notices?limit=2${cursor}`);
    walked.push(...(body["items"] as Item[]));
    if (body["nextCursor"] === null) break;
    cursor = `&cursor=${body["nextCursor"]}`;
  }
  expect(walked).toEqual(all);
  const live = (await manage("GET", "/manage/v1/projects/1/live/notices")).body;
  expect(live["items"]).toEqual([]);
});

test("notices and deliveries from before the history window are hidden", async () => {
  const notified = await setup();
  const { manage, database } = notified;
  await manage("PUT", "pools/credits", { body: { name: "Credits", lowBalances: [80, 50, 20] } });
  await charge(notified, "ada", 6);
  await charge(notified, "ada", 3);
  const age = (column: string) =>
    database.query(
      `update cell.notices set ${column} = ${column} - interval '2 days' where details not like '%"threshold":20%'`,
    );
  const thresholds = async (): Promise<unknown[]> => {
    const { items } = expectDone(await manage("GET", "webhooks/1/deliveries")) as { items: { data: Item }[] };
    const listed = (await list(notified)).map(({ data }) => (data as Item)["threshold"]);
    expect(items.map(({ data }) => data["threshold"])).toEqual(listed);
    return listed;
  };
  expect(await thresholds()).toEqual([20, 50, 80]);
  await manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax: 1 } } });
  expect(await thresholds()).toEqual([20, 50, 80]);
  await age("effective_at");
  expect(await thresholds()).toEqual([20]);
  await age("recorded_at");
  const page = (await manage("GET", "notices?limit=1")).body;
  expect(page).toMatchObject({ nextCursor: expect.any(String), windowStart: expect.any(String) });
  const last = (await manage("GET", `notices?limit=1&cursor=${page["nextCursor"]}`)).body;
  expect(last).toMatchObject({ items: [], nextCursor: null });
  await manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax: null } } });
  expect(await thresholds()).toEqual([20, 50, 80]);
});
