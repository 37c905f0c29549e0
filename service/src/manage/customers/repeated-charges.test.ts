import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { ask } from "../../../test/usage.ts";

type Item = { customerId: string; customerName: string | null; charges: number; credits: number };

const list = async (managed: Managed): Promise<Item[]> =>
  (await ask<{ items: Item[] }>(managed, "repeated-charges")).items;

/** Charges, and waits until all requests are logged. */
async function charge({ consume, manage }: Managed, ...charges: { customerId: string; quantity?: number }[]) {
  const logged = async (): Promise<number> => {
    const { body } = await manage("GET", "requests?limit=200");
    return (body["items"] as unknown[]).length;
  };
  const before = await logged();
  const ids: string[] = [];
  for (const body of charges) {
    const idempotencyKey = crypto.randomUUID();
    ids.push(String((await consume({ feature: "image.render", idempotencyKey, ...body })).body["consumeId"]));
  }
  await expect.poll(logged).toBe(before + charges.length);
  return ids;
}

test("two similar charges within a minute are listed, until one is reversed", async () => {
  const managed = await setupManage();
  const { manage, topUp, tokens } = managed;
  for (const customer of ["ada", "bob", "carl"]) await topUp(customer, 1_000);
  await managed.assign("bob");
  await managed.assign("carl");
  await manage("PUT", "customers/ada", { body: { name: "Ada Lovelace" } });
  const [, second = ""] = await charge(
    managed,
    { customerId: "ada", quantity: 3 },
    { customerId: "ada", quantity: 3 },
    { customerId: "bob", quantity: 1 },
    { customerId: "bob", quantity: 2 },
    // A longer run is normal use.
    ...Array.from({ length: 6 }, () => ({ customerId: "carl" })),
  );
  expect(await list(managed)).toEqual([
    {
      customerId: "ada",
      customerName: "Ada Lovelace",
      feature: "image.render",
      featureName: expect.any(String),
      quantity: 3,
      charges: 2,
      credits: 30,
      sequence: expect.any(Number),
      recordedAt: expect.any(String),
    },
  ]);
  const viewer = { token: tokens.viewer };
  expect((await manage("GET", "repeated-charges", viewer)).status).toBe(200);
  expect((await manage("POST", `customers/ada/consumes/${second}/reverse`, { body: {} })).status).toBe(200);
  expect(await list(managed)).toEqual([]);
});

test("charges before the history window, or more than a minute apart, are not listed", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await charge(managed, { customerId: "ada" }, { customerId: "ada" });
  expect(await list(managed)).toHaveLength(1);
  const setDays = (days: number | null) =>
    database.query("update control.workspace_plans set history_days_max = $1", [days]);
  await database.query("set session_replication_role = replica");
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  const moveBack = (by: string, which: string) =>
    database.query(
      `update cell.ledger set recorded_at = recorded_at - interval '${by}'
       where kind = 2 and sequence <= (select ${which}(sequence) from cell.ledger where kind = 2)`,
    );
  await moveBack("2 days", "max");
  await setDays(1);
  expect(await list(managed)).toEqual([]);
  await setDays(null);
  expect(await list(managed)).toHaveLength(1);
  await moveBack("61 seconds", "min");
  expect(await list(managed)).toEqual([]);
});
