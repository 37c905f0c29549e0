import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { setupManage } from "../../../test/manage.ts";
import { join } from "../../../test/members.ts";

const WORKSPACE = "/manage/v1/workspace";
const SHIPPED = {
  metadataBytesMax: 8192,
  metadataKeysMax: 50,
  metadataDepthMax: 5,
  historyDaysMax: null,
  requestsPerSecondMax: null,
};

test("changing a workspace's limits affects only that workspace and takes effect within 5 s", async () => {
  const { manage, database, record, tokens } = await setupManage();
  await database.query("insert into control.workspaces (name) values ('Elsewhere')");
  const before = await manage("GET", WORKSPACE, { token: tokens.viewer });
  expect(before.body).toMatchObject({
    name: "My workspace",
    limits: SHIPPED,
    version: expect.stringMatching(/^\d+\.\d+/),
  });
  const event = { customerId: "c", event: "e", quantity: 1, metadata: { a: 1, b: 2 } };
  expect((await record(event)).status).toBe(200);
  const limits = { metadataKeysMax: 1, historyDaysMax: 90 };
  const changed = await manage("PATCH", WORKSPACE, { body: { limits } });
  expect(changed.body).toMatchObject({ name: "My workspace", limits: { ...SHIPPED, ...limits } });
  await expect
    .poll(async () => (await record(event)).body["code"], { timeout: 5_000, interval: 100 })
    .toBe("metadata_limit_exceeded");
  const again = await manage("PATCH", WORKSPACE, { body: { limits: { historyDaysMax: null } } });
  expect(again.body["limits"]).toEqual({ ...SHIPPED, metadataKeysMax: 1 });
  expect(
    await database.query("select key, metadata_keys_max from control.workspace_plans order by key"),
  ).toEqual([
    { key: "self_hosted", metadata_keys_max: 50 },
    { key: "workspace_1", metadata_keys_max: 1 },
  ]);
  expect(await database.query("select plan_key from control.workspaces order by id")).toEqual([
    { plan_key: "workspace_1" },
    { plan_key: "self_hosted" },
  ]);
});

test("only an owner can edit the workspace, and each change is audited", async () => {
  const { manage, database, tokens } = await setupManage();
  const body = { name: "Acme" };
  expect((await manage("PATCH", WORKSPACE, { body, token: tokens.admin })).status).toBe(403);
  for (let i = 0; i < 2; i++) expect((await manage("PATCH", WORKSPACE, { body })).body["name"]).toBe("Acme");
  const rows = await database.query(
    "select before, after from control.audit where action = 'workspace.changed'",
  );
  expect(rows).toEqual([
    { before: { name: "My workspace", limits: SHIPPED }, after: { name: "Acme", limits: SHIPPED } },
  ]);
  // Renaming does not create another workspace plan.
  expect(await database.count("control.workspace_plans")).toBe(1);
});

test("an owner who is demoted during a request changes nothing", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const zoe = await join(managed, "owner", "zoe");
  const demoter = await connectTo(database);
  await demoter.query("begin");
  await demoter.query("select from control.workspaces for update");
  await demoter.query("update control.members set role = 'admin' where id = $1", [zoe.id]);
  const changing = zoe.call("PATCH", WORKSPACE, { limits: { requestsPerSecondMax: 1 } });
  const isWaiting = "datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  await demoter.query("commit");
  const { status, body } = await changing;
  expect([status, body["code"]]).toEqual([403, "role_missing"]);
  expect((await managed.manage("GET", WORKSPACE)).body["limits"]).toEqual(SHIPPED);
});

test("a limit out of range is rejected, and two concurrent changes of limits both apply", async () => {
  const { manage } = await setupManage();
  for (const limits of [
    { metadataBytesMax: 65_537 },
    { metadataKeysMax: -1 },
    { metadataDepthMax: 0 },
    { metadataDepthMax: null },
    { historyDaysMax: 0 },
    { requestsPerSecondMax: 0.5 },
    { unknown: 1 },
  ]) {
    expect((await manage("PATCH", WORKSPACE, { body: { limits } })).status).toBe(400);
  }
  expect((await manage("GET", WORKSPACE)).body["limits"]).toEqual(SHIPPED);
  await Promise.all(
    [{ metadataKeysMax: 7 }, { metadataDepthMax: 7 }, { metadataBytesMax: 7 }].map((limits) =>
      manage("PATCH", WORKSPACE, { body: { limits } }),
    ),
  );
  expect((await manage("GET", WORKSPACE)).body["limits"]).toEqual({
    ...SHIPPED,
    metadataKeysMax: 7,
    metadataDepthMax: 7,
    metadataBytesMax: 7,
  });
});
