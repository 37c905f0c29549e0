import { expect, test } from "vitest";
import { createDatabase, createTestProject, post, startTestService } from "../../../test/harness.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1, idempotencyKey: "k" };

test.each([
  ["{}", 403],
  ["{check}", 403],
  ["{check,consume}", 403],
  ["{events}", 200],
  ["{check,events}", 200],
])("an API key with the scopes %s gets %i", async (scopes, status) => {
  const database = await createDatabase();
  const { test: environment } = await createTestProject(database);
  await database.query("update control.api_keys set scopes = $1 where id = $2", [scopes, environment.key.id]);
  const service = await startTestService(database);
  const reply = await post(`${service.url}/v1/events`, environment.key.secret, EVENT);
  expect(reply.status).toBe(status);
  if (status === 403) {
    expect(reply.body).toMatchObject({ code: "scope_missing", detail: expect.stringContaining("`events`") });
  }
  for (const table of ["events", "customers", "keyed_requests"]) {
    expect(await database.count(`cell.${table}`)).toBe(status === 200 ? 1 : 0);
  }
});
