import { expect, test } from "vitest";
import { makeApiKey } from "../../service/src/primitives/secret.ts";
import { createTestProject, post, setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };

test("a request with `Authorization: Bearer <API_KEY>` is accepted", async () => {
  const { service, project } = await setup();
  const headers = { authorization: `Bearer ${project.test.key.secret}` };
  expect((await post(`${service.url}/v1/events`, null, EVENT, headers)).status).toBe(200);
});

test("a request without the header gets 401 and stores nothing", async () => {
  const { database, service } = await setup();
  const changed = await changedTables(database, async () => {
    const reply = await post(`${service.url}/v1/events`, null, EVENT);
    expect(reply).toMatchObject({ status: 401, body: { code: "api_key_missing" } });
    expect(reply.headers.get("www-authenticate")).toBe("Bearer");
  });
  expect(changed).toEqual([]);
});

test("an API key outside the Authorization header is ignored", async () => {
  const { service, project } = await setup();
  const { secret } = project.test.key;
  const places = [
    await post(`${service.url}/v1/events?api_key=${secret}`, null, EVENT),
    await post(`${service.url}/v1/events`, null, EVENT, { "x-api-key": secret }),
    await post(`${service.url}/v1/events`, null, { ...EVENT, apiKey: secret }),
    await post(`${service.url}/v1/events`, null, EVENT, { cookie: `authorization=Bearer ${secret}` }),
  ];
  expect(places.map((reply) => reply.status)).toEqual([401, 401, 401, 401]);
});

test.each([
  ["without the word Bearer", "api_key_missing", (secret: string) => secret],
  ["as Basic", "api_key_missing", (secret: string) => `Basic ${secret}`],
  ["twice", "api_key_missing", (secret: string) => `Bearer ${secret} ${secret}`],
  ["empty", "api_key_missing", () => "Bearer "],
  ["cut short", "api_key_invalid", (secret: string) => `Bearer ${secret.slice(0, -1)}`],
  [
    "with a typo",
    "api_key_invalid",
    (secret: string) => `Bearer ${secret.replace(/.$/, (c) => (c === "a" ? "b" : "a"))}`,
  ],
  [
    "with the prefix of the other environment",
    "api_key_invalid",
    (secret: string) => `Bearer ${secret.replace("_test_", "_live_")}`,
  ],
])("an API key sent %s gets 401 %s", async (_name, code, authorization) => {
  const { database, service, project } = await setup();
  const headers = { authorization: authorization(project.test.key.secret) };
  const reply = await post(`${service.url}/v1/events`, null, EVENT, headers);
  expect(reply).toMatchObject({ status: 401, body: { code } });
  expect(await database.count("cell.events")).toBe(0);
});

test("unknown, revoked and expired API keys get identical 401 responses", async () => {
  const { database, service, project } = await setup();
  const other = await createTestProject(database, "Another product");
  const set = (column: string, id: number) =>
    database.query(`update control.api_keys set ${column} = now() where id = $1`, [id]);
  await set("revoked_at", project.live.key.id);
  await set("expires_at", other.live.key.id);

  const answers: unknown[] = [];
  for (const secret of [makeApiKey("live"), project.live.key.secret, other.live.key.secret]) {
    const reply = await post(`${service.url}/v1/events`, secret, EVENT, { "x-request-id": "same" });
    expect(reply).toMatchObject({ status: 401, body: { code: "api_key_invalid" } });
    expect(reply.text).not.toContain(secret);
    answers.push(reply.text);
  }
  expect(new Set(answers).size).toBe(1);
  expect(await database.count("cell.events")).toBe(0);
});

test("an API key in use is rejected within 5 seconds of its revocation", async () => {
  const { database, project, record } = await setup();
  expect((await record(EVENT)).status).toBe(200);
  await database.query("update control.api_keys set revoked_at = now() where id = $1", [project.test.key.id]);
  await expect.poll(async () => (await record(EVENT)).status, { timeout: 5_000 }).toBe(401);
});

test("the API key determines the project and environment of an event", async () => {
  const { database, service, project } = await setup();
  const other = await createTestProject(database, "Another product");
  const environments = [project.test, project.live, other.test, other.live];
  for (const { key } of environments) {
    expect((await post(`${service.url}/v1/events`, key.secret, EVENT)).status).toBe(200);
  }
  const rows = await database.query("select environment_id from cell.events order by environment_id");
  expect(rows).toEqual(environments.map(({ environmentId }) => ({ environment_id: environmentId })));
  expect(await database.count("cell.customers")).toBe(4);
});

test("an API key without the scope for an operation is rejected", async () => {
  const { database, project, record } = await setup();
  await database.query("update control.api_keys set scopes = '{check,consume}' where id = $1", [
    project.test.key.id,
  ]);
  expect(await record(EVENT)).toMatchObject({ status: 403, body: { code: "scope_missing" } });
  expect(await database.count("cell.events")).toBe(0);
});

test("the API key is checked before the body", async () => {
  const { service } = await setup();
  const reply = await post(`${service.url}/v1/events`, null, "not json", { "content-type": "text/plain" });
  expect(reply).toMatchObject({ status: 401, body: { code: "api_key_missing" } });
});
