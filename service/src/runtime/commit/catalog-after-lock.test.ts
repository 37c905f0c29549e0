import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { connectTo } from "../../../test/harness.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";

test("a consume request that waited for its wallet uses the prices in force after the wait", async () => {
  const { cell, consume, context, database, publish } = await setupCredits();
  const body = { customerId: "ada", feature: "image.render" };
  expect((await consume({ ...body, idempotencyKey: "before" })).body["creditsCharged"]).toBe(10);

  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("select from cell.wallets for update");
  const waiting = consume({ ...body, idempotencyKey: "waiting" });
  await isWaitingForLock(database.query);
  await defineFeature(cell, context, {
    key: "image.render",
    name: "Image",
    unit: null,
    pool: "credits",
    cost: { credits: 25, per: 1 },
  });
  await publish({ reach: "now" });
  await holder.query("commit");
  expect((await waiting).body).toMatchObject({ allowed: true, creditsCharged: 25, balance: 65 });
});

async function isWaitingForLock(query: (text: string) => Promise<Record<string, unknown>[]>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const [row] = await query(
      "select from pg_stat_activity where application_name like 'purser/% lane' and wait_event_type = 'Lock' and datname = current_database()",
    );
    if (row !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the lane never waited for the lock");
}
