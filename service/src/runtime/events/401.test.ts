import { expect, test } from "vitest";
import { post, setup } from "../../../test/harness.ts";
import { makeApiKey, makeManagementToken } from "../../primitives/secret.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1, idempotencyKey: "k" };

test("without an API key the response names the header to send", async () => {
  const { database, service } = await setup();
  const reply = await post(`${service.url}/v1/events`, null, EVENT);
  expect(reply.status).toBe(401);
  expect(reply.headers.get("www-authenticate")).toBe("Bearer");
  expect(reply.body).toMatchObject({
    code: "api_key_missing",
    detail: expect.stringContaining("Authorization: Bearer"),
  });
  expect(await database.count("cell.customers")).toBe(0);
});

test("unknown, revoked, expired and mistyped keys get the same response", async () => {
  const { database, service, project } = await setup();
  const { test: revoked, live: expired } = project;
  await database.query("update control.api_keys set revoked_at = now() where id = $1", [revoked.key.id]);
  await database.query("update control.api_keys set expires_at = now() where id = $1", [expired.key.id]);
  const headers = {
    unknown: `Bearer ${makeApiKey("live")}`,
    revoked: `Bearer ${revoked.key.secret}`,
    expired: `Bearer ${expired.key.secret}`,
    mistyped: `Bearer ${makeApiKey("live").slice(0, -1)}`,
  };
  const bodies = new Set<string>();
  for (const [name, authorization] of Object.entries(headers)) {
    const reply = await post(`${service.url}/v1/events`, null, EVENT, {
      authorization,
      "x-request-id": "same",
    });
    expect([name, reply.status, reply.body["code"]]).toEqual([name, 401, "api_key_invalid"]);
    expect(reply.headers.get("www-authenticate")).toBe("Bearer");
    bodies.add(reply.text);
  }
  expect(bodies.size).toBe(1);
  for (const table of ["events", "customers", "keyed_requests"])
    expect(await database.count(`cell.${table}`)).toBe(0);
});

test("a management token sent as an API key is recognized without a lookup", async () => {
  const { service } = await setup();
  const bodies = new Set<string>();
  for (const secret of [makeManagementToken(), "pur_mgmt_0123456789"]) {
    const headers = { "x-request-id": "same" };
    const { status, body, text } = await post(`${service.url}/v1/events`, secret, EVENT, headers);
    expect([status, body["code"], body["detail"]]).toEqual([
      401,
      "api_key_invalid",
      expect.stringContaining("This is a management token"),
    ]);
    bodies.add(text);
  }
  expect(bodies.size).toBe(1);
});

test("the API key is read only from the header, and the scheme is case-insensitive", async () => {
  const { service, project } = await setup();
  const { secret } = project.test.key;
  const url = `${service.url}/v1/events`;
  expect((await post(`${url}?api_key=${secret}&access_token=${secret}`, null, EVENT)).status).toBe(401);
  expect((await post(url, null, EVENT, { "x-api-key": secret, cookie: `key=${secret}` })).status).toBe(401);
  expect((await post(url, null, EVENT, { authorization: `bearer  ${secret}` })).status).toBe(200);
});

test("without an API key the body is not read", async () => {
  const { service } = await setup();
  for (const body of ["{broken", "x".repeat(100_000), JSON.stringify({ ...EVENT, quantity: 0 })]) {
    expect((await post(`${service.url}/v1/events`, makeApiKey("test"), body)).status).toBe(401);
  }
});

test.each([
  ["no key at all", "Bearer"],
  ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
  ["two words", "Bearer one two"],
])("an Authorization header with %s is treated as missing", async (_, authorization) => {
  const { service } = await setup();
  const reply = await post(`${service.url}/v1/events`, null, EVENT, { authorization });
  expect(reply).toMatchObject({ status: 401, body: { code: "api_key_missing" } });
});
