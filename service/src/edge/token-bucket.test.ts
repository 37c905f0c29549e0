import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDatabase, createTestProject, post, type Reply, startTestService } from "../../test/harness.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1 };

/** A service whose workspace allows this many requests per second, or null for no limit. */
async function setupWithRate(rate: number | null) {
  const database = await createDatabase();
  const project = await createTestProject(database);
  await database.query("update control.workspace_plans set requests_per_second_max = $1", [rate]);
  const service = await startTestService(database);
  const send = (key: string): Promise<Reply> => post(`${service.url}/v1/events`, key, EVENT);
  return { database, project, send };
}

test("without a workspace limit, no request is rejected and responses have no rate limit headers", async () => {
  const { project, send } = await setupWithRate(null);
  const replies = await Promise.all(Array.from({ length: 100 }, () => send(project.test.key.secret)));
  for (const reply of replies) {
    expect(reply.status).toBe(200);
    expect([reply.headers.get("ratelimit"), reply.headers.get("ratelimit-policy")]).toEqual([null, null]);
  }
});

test("a request above the rate limit gets 429 with Retry-After, and is not executed", async () => {
  const { database, project, send } = await setupWithRate(5);
  const first = await send(project.test.key.secret);
  expect(first.status).toBe(200);
  expect(first.headers.get("ratelimit-policy")).toBe('"key-per-process";q=5;w=1');
  expect(first.headers.get("ratelimit")).toBe('"key-per-process";r=4;t=1');

  const startedAtMs = performance.now();
  const replies = await Promise.all(Array.from({ length: 40 }, () => send(project.test.key.secret)));
  const refilled = (5 * (performance.now() - startedAtMs)) / 1_000;
  const accepted = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 429);
  expect(accepted.length + refused.length).toBe(40);
  // Four tokens were left, and perhaps a fraction of a fifth.
  expect(accepted.length).toBeGreaterThanOrEqual(4);
  expect(accepted.length).toBeLessThanOrEqual(5 + refilled);
  for (const { headers, body } of refused) {
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("ratelimit")).toBe('"key-per-process";r=0;t=1');
    expect(headers.get("ratelimit-policy")).toBe('"key-per-process";q=5;w=1');
    expect(body).toMatchObject({ code: "rate_limited", status: 429 });
  }
  expect(await database.count("cell.events")).toBe(1 + accepted.length);
});

test("requests succeed again after the Retry-After delay, and a long wait saves at most one second's worth of tokens", async () => {
  const { project, send } = await setupWithRate(2);
  const burst = (): Promise<Reply[]> =>
    Promise.all(Array.from({ length: 20 }, () => send(project.test.key.secret)));
  const refused = (await burst()).find(({ status }) => status === 429);
  await sleep(Number(refused?.headers.get("retry-after")) * 1_000);
  expect((await send(project.test.key.secret)).status).toBe(200);
  await sleep(4_000);
  const startedAtMs = performance.now();
  const accepted = (await burst()).filter(({ status }) => status === 200);
  expect(accepted.length).toBeLessThanOrEqual(2 + (2 * (performance.now() - startedAtMs)) / 1_000);
});

test("each key has its own bucket, so one key cannot use another's tokens", async () => {
  const { project, send } = await setupWithRate(3);
  const flood = await Promise.all(Array.from({ length: 30 }, () => send(project.test.key.secret)));
  expect(flood.some(({ status }) => status === 429)).toBe(true);
  expect((await send(project.live.key.secret)).status).toBe(200);
});

test("a rejected request takes no token, so a key that sends too much still gets the workspace's rate", async () => {
  const { project, send } = await setupWithRate(20);
  const startedAtMs = performance.now();
  const elapsedSeconds = (): number => (performance.now() - startedAtMs) / 1_000;
  let accepted = 0;
  const flood = async (): Promise<void> => {
    while (elapsedSeconds() < 1.5) if ((await send(project.test.key.secret)).status === 200) accepted += 1;
  };
  await Promise.all(Array.from({ length: 5 }, flood));
  // A full bucket has 20 tokens, and 1.5 s refill 30 more. If rejections took tokens, about 20 requests would be accepted.
  expect(accepted).toBeGreaterThan(35);
  expect(accepted).toBeLessThanOrEqual(20 + 20 * elapsedSeconds());
});
