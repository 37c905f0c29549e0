import { expect, test } from "vitest";
import { connectTo } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";

const WAITING = "datname = current_database() and wait_event_type = 'Lock'";

test("calls of one project that wait for the database leave connections for other projects", async () => {
  const { manage, database } = await setupManage();
  const made = await manage("POST", "/manage/v1/projects", { body: { name: "Second" } });
  const { id } = made.body["project"] as { id: string };
  const holder = await connectTo(database);
  await holder.query("begin; lock table cell.wallets in access exclusive mode");
  const lists = Array.from({ length: 30 }, () => manage("GET", "customers"));
  await expect.poll(() => database.count("pg_stat_activity", WAITING)).toBe(3);
  const startMs = performance.now();
  const others = await Promise.all(
    Array.from({ length: 8 }, () => manage("GET", `/manage/v1/projects/${id}/test/pools`)),
  );
  expect(performance.now() - startMs).toBeLessThan(1_000);
  expect(others.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(await database.count("pg_stat_activity", WAITING)).toBe(3);
  await holder.query("rollback");
  const replies = await Promise.all(lists);
  expect(replies.map(({ status }) => status)).toEqual(Array(30).fill(200));
});
