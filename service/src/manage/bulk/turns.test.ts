import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { setupManage } from "../../../test/manage.ts";

test("a plan preview and an undo for one customer succeed while the maximum number of bulk changes runs", async () => {
  const { manage, publish, assign, database } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  for (const id of ["slow", "slower", "bob"]) await assign(id, "pro");
  await manage("POST", "customers/bob/credits", { body: { credits: 50, kind: "manual", reference: "one" } });
  const blocking = { customerIds: ["bob"], blocked: true };
  const bulk = await manage("POST", "bulk-blocks", { body: blocking });
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(
    `select from cell.wallets
    where customer_number in (select number from cell.customers where customer_id in ('slow', 'slower'))
    for update`,
  );
  const credits = { credits: 5, kind: "manual", reference: "slow" };
  const running = ["slow", "slower"].map((id) =>
    manage("POST", "bulk-credits", { body: { ...credits, customerIds: [id] } }),
  );
  // A preview that takes a turn before both have begun would make one of them fail.
  const isWaiting = "wait_event_type = 'Lock' and datname = current_database()";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(2);
  const assignment = { plan: "scale", filter: {} };
  const previewAll = await manage("POST", "bulk-assignments/preview", { body: assignment });
  expect(previewAll.body["code"]).toBe("overloaded");
  const undoBulk = `audit/${bulk.body["auditEntryId"]}/undo`;
  for (const path of [undoBulk, `${undoBulk}/preview`])
    expect(await manage("POST", path)).toMatchObject({ status: 503, body: { code: "overloaded" } });

  const one = { ...assignment, filter: { customerIds: ["bob"] } };
  expect(await manage("POST", "bulk-assignments/preview", { body: one })).toMatchObject({
    body: { matching: 1, changed: 1 },
  });
  const { body } = await manage("GET", "audit?action=credits.added&customerId=bob");
  const [entry] = body["items"] as { id: string }[];
  for (const path of [`audit/${entry?.id}/undo/preview`, `audit/${entry?.id}/undo`])
    expect(await manage("POST", path)).toMatchObject({ body: { undone: 1, credits: 50 } });
  await client.query("rollback");
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
});
