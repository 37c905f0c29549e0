import { expect, test } from "vitest";
import { createDatabase, createTestProject, post, startTestService } from "../../test/harness.ts";
import { type Ended, runPurser } from "../../test/purser.ts";

const purser = (args: string[], databaseUrl: string): Promise<Ended> =>
  runPurser(args, { DATABASE_URL: databaseUrl });

test("a created project's key works until it is revoked", async () => {
  const database = await createDatabase();
  await createTestProject(database);
  const created = await purser(["create-project", "Second product"], database.url);
  const key = /test {2}(\S+)/.exec(created.stdout)?.[1] ?? "";
  const service = await startTestService(database);
  const event = { customerId: "customer_1", event: "tokens", quantity: 1 };
  expect((await post(`${service.url}/v1/events`, key, event)).status).toBe(200);
  expect((await purser(["revoke-key", key], database.url)).stdout).toContain(`ending in ${key.slice(-4)}`);
  await expect
    .poll(async () => (await post(`${service.url}/v1/events`, key, event)).status, {
      timeout: 5_000,
      interval: 250,
    })
    .toBe(401);
  expect((await purser(["revoke-key", key], database.url)).code).toBe(1);
});
