import { expect, test } from "vitest";
import { createTestProject, post } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { move, setupMove } from "../../../test/moves.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { addCredits } from "../credits/add-credits.ts";
import { createManagementToken } from "../people/management-tokens.ts";
import { definePool } from "../pools/operations.ts";

type Results = Record<string, Record<string, unknown>[]>;

async function search({ manage }: Managed, q: string, token?: string): Promise<Results> {
  const path = `/manage/v1/search?q=${encodeURIComponent(q)}`;
  const reply = await manage("GET", path, token === undefined ? {} : { token });
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply.body as Results;
}

const emptied = (results: Results): string[] =>
  Object.entries(results)
    .filter(([, found]) => found.length > 0)
    .map(([kind]) => kind);

const actor = { kind: "system", id: null, requestId: null } as const;

test("a search of all projects finds a payment reference in the live environment", async () => {
  const managed = await setupManage();
  const { cell, context, project } = managed;
  const live = { ...context, environmentId: project.live.environmentId };
  await definePool(cell, live, { key: "coins", name: "Coins" });
  const outcome = await addCredits(cell, live, {
    customerId: brandAs<CustomerId>("ada"),
    pool: "coins",
    kind: "purchase",
    credits: 500,
    expiresAt: null,
    reference: "pi_123",
    price: null,
    note: null,
  });
  expect(outcome.kind).toBe("added");
  const results = await search(managed, "pi_123");
  expect(emptied(results)).toEqual(["grants"]);
  expect(results["grants"]).toMatchObject([
    {
      projectId: String(project.projectId),
      projectName: "Test product",
      environment: "live",
      customerId: "ada",
      credits: 500,
      kind: "purchase",
      reference: "pi_123",
    },
  ]);
  // Part of a reference does not match.
  expect(emptied(await search(managed, "pi_12"))).toEqual([]);
});

test("a search for a payment whose credits were moved shows the customer who now has them", async () => {
  const managed = await setupMove();
  expect((await move(managed)).status).toBe(200);
  expect((await search(managed, "pi_1"))["grants"]).toMatchObject([
    { customerId: "ada", grant: 2, movedTo: { customerId: "bob", customerName: null, grant: 2 } },
  ]);
  expect((await search(managed, "pi_1-moved"))["grants"]).toMatchObject([
    { customerId: "bob", grant: 2, movedTo: null },
  ]);
});

test("customers are found by prefix in all projects, with the exact ID first", async () => {
  const managed = await setupManage();
  const { manage, service, database } = managed;
  const other = await createTestProject(database, "Other product");
  for (let i = 0; i < 12; i++)
    await manage("PUT", `customers/acme-${i}`, { body: { name: `Ac${i}`, email: `Z${i}@acme.example` } });
  await manage("PUT", "customers/x", { body: { name: "ACME 100%", billingReference: "cus_Nff" } });
  const event = { customerId: "acme-1", event: "e", quantity: 1 };
  await post(`${service.url}/v1/events`, other.live.key.secret, event);
  const exact = (await search(managed, "acme-1"))["customers"];
  expect(exact?.slice(0, 2).map(({ customerId, projectName }) => [customerId, projectName])).toEqual([
    ["acme-1", "Other product"],
    ["acme-1", "Test product"],
  ]);
  expect((await search(managed, "acme"))["customers"]).toHaveLength(10);
  const idsOf = async (q: string) => (await search(managed, q))["customers"]?.map((c) => c["customerId"]);
  expect(await idsOf("acme 100%")).toEqual(["x"]);
  expect(await idsOf("CUS_nFF")).toEqual(["x"]);
  expect(await idsOf("z11@")).toEqual(["acme-11"]);
  expect(await idsOf("%")).toEqual([]);
});

test("customers are found by part of a field, and matches at its beginning come first", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await manage("PUT", "customers/films-inc", { body: {} });
  await manage("PUT", "customers/c1", { body: { name: "Fernweh Films" } });
  await manage("PUT", "customers/c2", { body: { email: "ada@films.example" } });
  const idsOf = async (q: string) => (await search(managed, q))["customers"]?.map((c) => c["customerId"]);
  expect(await idsOf("FILMS")).toEqual(["films-inc", "c2", "c1"]);
  expect(await idsOf("lm")).toEqual([]);
});

test("search finds idempotency keys, charges, denials, events, plans and features", async () => {
  const managed = await setupManage();
  const { consume, record } = managed;
  const body = { customerId: "ada", feature: "image.render" };
  const charge = await consume({ ...body, idempotencyKey: "k-1" });
  await consume({ ...body, quantity: 99, idempotencyKey: "k-2" });
  const event = await record({ customerId: "ada", event: "tokens", quantity: 7 });
  expect(await search(managed, "k-1")).toMatchObject({
    keys: [{ idempotencyKey: "k-1", endpoint: "consume", environment: "test" }],
  });
  const { manage } = managed;
  await manage("PUT", "customers/ada", { body: { name: "Ada Films" } });
  await managed.database.query("update cell.features set name = 'Rendered image' where key = 'image.render'");
  const names = { customerId: "ada", customerName: "Ada Films" };
  const consumeId = String(charge.body["consumeId"]);
  expect(await search(managed, consumeId)).toMatchObject({
    charges: [{ consumeId, ...names, feature: "image.render", featureName: "Rendered image", quantity: 1 }],
  });
  const eventId = String(event.body["eventId"]);
  expect(await search(managed, eventId)).toMatchObject({
    events: [{ eventId, event: "tokens", quantity: 7, customerId: "ada" }],
  });
  const story = (await managed.manage("GET", "keys/k-2")).body["denial"] as { denialId: string };
  expect(await search(managed, story.denialId)).toMatchObject({
    denials: [{ reason: "insufficient_credits", quantity: 99, ...names, featureName: "Rendered image" }],
  });
  expect(await search(managed, "Pr")).toMatchObject({ plans: [{ key: "pro", name: "Pro" }] });
  expect((await search(managed, "image"))["features"]).toMatchObject([{ key: "image.render" }]);
  expect((await search(managed, "DERED im"))["features"]).toMatchObject([{ key: "image.render" }]);
  expect(emptied(await search(managed, "con_7zzzzzzzzzzzzzzzzzzzzzzzzz"))).toEqual([]);
});

test("a token of another workspace finds nothing, and a token limited to one environment searches only that environment", async () => {
  const managed = await setupManage();
  const { cell, consume, manage, database, project, here } = managed;
  const { consumeId } = (await consume({ customerId: "ada", feature: "export", idempotencyKey: "k-1" })).body;
  await database.query("insert into control.workspaces (name) values ('Another')");
  const grant = { name: "t", role: "viewer", expiresAt: null } as const;
  const foreign = await createManagementToken(cell, actor, { ...grant, workspaceId: 2, environment: null });
  for (const q of ["ada", "k-1", String(consumeId), "pro", "image"]) {
    expect(emptied(await search(managed, q, foreign.secret))).toEqual([]);
    expect(emptied(await search(managed, q))).not.toEqual([]);
  }
  const { projectId, live } = project;
  const environment = { projectId, environmentId: live.environmentId };
  const narrow = await createManagementToken(cell, actor, { ...grant, workspaceId: 1, environment });
  const token = narrow.secret;
  const everywhere = await manage("GET", "/manage/v1/search?q=ada", { token });
  expect([everywhere.status, emptied(everywhere.body as Results)]).toEqual([200, []]);
  expect((await manage("GET", "search?q=ada", { token })).status).toBe(404);
  const own = await manage("GET", `${here.replace("/test", "/live")}/search?q=ada`, { token });
  expect([own.status, emptied(own.body as Results)]).toEqual([200, []]);
  expect(emptied((await manage("GET", "search?q=ada")).body as Results)).toEqual(["customers"]);
  expect((await manage("GET", "/manage/v1/search?q=")).status).toBe(400);
});
