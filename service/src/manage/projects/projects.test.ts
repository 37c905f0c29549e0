import { expect, onTestFinished, test } from "vitest";
import { createDatabase, post } from "../../../test/harness.ts";
import { addWorkspace, setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { transaction } from "../../postgres/transaction.ts";
import { makeApiKey } from "../../primitives/secret.ts";
import { findProject, lockProjectName, renameProject } from "../../store/control/projects.ts";
import { createFirstOwner } from "../people/set-up.ts";
import { createFirstProject } from "./create-project.ts";

const PROJECTS = "/manage/v1/projects";
const BOSS = { name: "Boss", password: "seven-green-kettles" };

test("a new project has a test and a live environment, each with a working API key", async () => {
  const { manage, service, database, tokens } = await setupManage();
  const created = await manage("POST", PROJECTS, { body: { name: "Second" }, token: tokens.admin });
  const { project, secrets } = created.body as {
    project: { id: string };
    secrets: { test: string; live: string };
  };
  const environments = [
    { environment: "test", validApiKeys: 1 },
    { environment: "live", validApiKeys: 1 },
  ];
  expect(project).toMatchObject({ name: "Second", environments });
  const event = { customerId: "c", event: "e", quantity: 1 };
  for (const secret of Object.values(secrets))
    expect((await post(`${service.url}/v1/events`, secret, event)).status).toBe(200);
  expect(secrets).toEqual({
    test: expect.stringMatching(/^pur_test_/),
    live: expect.stringMatching(/^pur_live_/),
  });
  const read = await manage("GET", `${PROJECTS}/${project.id}`, { token: tokens.viewer });
  expect(read.body).toEqual(project);
  const first = await manage("GET", `${PROJECTS}?limit=1`);
  const second = await manage("GET", `${PROJECTS}?limit=1&cursor=${first.body["nextCursor"]}`);
  expect([first.body["items"], second.body]).toMatchObject([
    [{ name: "Test product" }],
    { items: [project], nextCursor: null },
  ]);
  expect(await database.count("control.audit", "action like 'project.%' and actor_kind = 'token'")).toBe(1);
  expect(await database.count("control.audit", "action = 'api_key.created' and actor_kind = 'token'")).toBe(
    2,
  );
});

test("renaming a project is audited once, and another workspace's project is not found", async () => {
  const { manage, database, project } = await setupManage();
  const path = `${PROJECTS}/${project.projectId}`;
  for (let i = 0; i < 2; i++)
    expect((await manage("PATCH", path, { body: { name: "New name" } })).body["name"]).toBe("New name");
  expect(
    await database.query("select before, after from control.audit where action = 'project.renamed'"),
  ).toEqual([
    {
      before: { id: String(project.projectId), name: "Test product" },
      after: { id: String(project.projectId), name: "New name" },
    },
  ]);
  for (const name of ["", "x".repeat(121), 7]) {
    expect((await manage("PATCH", path, { body: { name } })).status).toBe(400);
  }
  const [row] = await database.query(
    "with w as (insert into control.workspaces (name) values ('Elsewhere') returning id) " +
      "insert into control.projects (workspace_id, name) select id, 'Foreign' from w returning id",
  );
  const [foreign, missing] = [
    await manage("GET", `${PROJECTS}/${row?.["id"]}`),
    await manage("GET", `${PROJECTS}/99999`),
  ];
  expect([foreign.status, { ...foreign.body, requestId: "" }]).toEqual([
    404,
    { ...missing.body, requestId: "" },
  ]);
  expect((await manage("GET", PROJECTS)).text).not.toContain("Foreign");
});

test("concurrent processes create only one initial owner and one initial project", async () => {
  const database = await createDatabase();
  const pool = openTestPool(database.serviceUrl, 8);
  onTestFinished(() => pool.end());
  const numbers = [1, 2, 3, 4, 5, 6];
  const made = await Promise.all([
    ...numbers.map((i) => createFirstOwner(pool, { ...BOSS, email: `${i}@example.com` })),
    ...numbers.map(() => createFirstProject(pool, "First", makeApiKey("live"))),
  ]);
  expect(made.filter((isMade) => isMade)).toHaveLength(2);
  expect([await database.count("control.members"), await database.count("control.projects")]).toEqual([1, 1]);
});

test("no statement finds or renames a project of another workspace", async () => {
  const { cell, database, project } = await setupManage();
  const workspaceId = await addWorkspace(database, "Elsewhere");
  const place = { workspaceId, id: project.projectId };
  await transaction(cell, async (tx) => {
    expect([await findProject(tx, place), await lockProjectName(tx, place)]).toEqual([null, null]);
    await renameProject(tx, { ...place, name: "Taken" });
    expect(await findProject(tx, { ...place, workspaceId: 1 })).toMatchObject({ name: "Test product" });
  });
});
