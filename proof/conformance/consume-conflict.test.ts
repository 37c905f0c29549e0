import { expect, test } from "vitest";
import { setupCredits } from "../../service/test/credits.ts";
import { createTestProject, post } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";
import { conflictOf, expectReplay } from "./replay.ts";

const RENDER = { customerId: "ada", feature: "image.render", quantity: 2, idempotencyKey: "key-1" };

test.each([
  ["customerId", { customerId: "bob" }],
  ["feature", { feature: "export" }],
  ["quantity", { quantity: 3 }],
  ["quantity, now the default", { quantity: undefined }],
  ["metadata", { metadata: { a: 1 } }],
])(
  "a key reused with another payload (%s) gets 409, reveals nothing and charges nothing",
  async (_name, change) => {
    const { consume, database, assign } = await setupCredits();
    await assign("bob");
    const original = await consume(RENDER);
    const changed = await changedTables(database, async () => {
      const reply = await consume({ ...RENDER, ...change });
      expect(reply).toMatchObject(conflictOf("payload"));
      expect(reply.text).not.toContain(String(original.body["consumeId"]));
      expect(reply.headers.has("idempotent-replayed")).toBe(false);
    });
    expect(changed).toEqual([]);
    await expectReplay(consume(RENDER), original);
  },
);

test("an idempotency key used on consume gets 409 on events, and vice versa", async () => {
  const { consume, record, database } = await setupCredits();
  const event = { customerId: "ada", event: "image.render", quantity: 2 };
  await consume(RENDER);
  await record({ ...event, idempotencyKey: "key-2" });
  const changed = await changedTables(database, async () => {
    expect(await record({ ...event, idempotencyKey: "key-1" })).toMatchObject(conflictOf("endpoint"));
    expect(await consume({ ...RENDER, idempotencyKey: "key-2" })).toMatchObject(conflictOf("endpoint"));
    // If several parts differ, the endpoint is reported.
    expect(await consume({ ...RENDER, quantity: 9, idempotencyKey: "key-2" })).toMatchObject(
      conflictOf("endpoint"),
    );
  });
  expect(changed).toEqual([]);
});

test("a key used in the other environment gets 409, even with the same body", async () => {
  const { consume, service, project, database } = await setupCredits();
  await consume(RENDER);
  const changed = await changedTables(database, async () => {
    const reply = await post(`${service.url}/v1/consume`, project.live.key.secret, RENDER);
    // The environment is compared before the feature is looked up, which does not exist in Live.
    expect(reply).toMatchObject(conflictOf("environment"));
  });
  expect(changed).toEqual([]);
});

test("keys are scoped to the project: another project can use the same key", async () => {
  const { consume, service, database } = await setupCredits();
  await consume(RENDER);
  const other = await createTestProject(database, "Another product");
  const event = { customerId: "ada", event: "image.render", quantity: 2, idempotencyKey: "key-1" };
  expect((await post(`${service.url}/v1/events`, other.test.key.secret, event)).status).toBe(200);
  const reply = await post(`${service.url}/v1/consume`, other.live.key.secret, RENDER);
  expect(reply).toMatchObject(conflictOf("endpoint"));
});
