import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
  createDatabase,
  createTestProject,
  post,
  startTestService,
  type TestDatabase,
} from "../../test/harness.ts";
import { openPool } from "../postgres/pool.ts";
import { single } from "../postgres/transaction.ts";
import { revokeApiKey } from "../store/control/api-key-list.ts";
import { type ApiKey, findLiveApiKey, touchApiKeys } from "../store/control/api-keys.ts";
import { hashSecret, makeApiKey } from "../words/secret.ts";
import { ApiKeyCache, type ApiKeySource } from "./api-key-cache.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1 };

/** The real look-up, counted, with a switch to put the control database out of reach. */
function openSource(database: TestDatabase) {
  const pool = openPool({ url: database.serviceUrl, name: "test", sizeMax: 2, onIdleError: () => {} });
  onTestFinished(() => pool.end());
  const source = {
    lookups: 0,
    isReachable: true,
    find(secret: string): Promise<ApiKey | null> {
      source.lookups += 1;
      if (!source.isReachable) return Promise.reject(new Error("out of reach"));
      return single(pool, (tx) => findLiveApiKey(tx, hashSecret(secret)));
    },
    touch: (ids: readonly number[]) => single(pool, (tx) => touchApiKeys(tx, ids)),
  } satisfies ApiKeySource & Record<string, unknown>;
  return { pool, source };
}

async function setup() {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const { pool, source } = openSource(database);
  const cache = new ApiKeyCache(source);
  const find = (secret: string) => Promise.resolve(cache.find(secret, performance.now()));
  return { database, project, pool, source, cache, find, secret: project.test.key.secret };
}

let clockOffsetMs = 0;

beforeEach(() => {
  const now = performance.now.bind(performance);
  clockOffsetMs = 0;
  const moved = vi.spyOn(performance, "now").mockImplementation(() => now() + clockOffsetMs);
  onTestFinished(() => moved.mockRestore());
});

/** Only this process's clock is moved; the database and the network go on as they are. */
function moveClock(ms: number): void {
  clockOffsetMs += ms;
}

test("a revocation is seen by every process within 5 s", { timeout: 20_000 }, async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const { pool } = openSource({ ...database, serviceUrl: database.url });
  const services = [await startTestService(database), await startTestService(database)];
  const statuses = () =>
    Promise.all(
      services.map(
        async ({ url }) => (await post(`${url}/v1/events`, project.test.key.secret, EVENT)).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200]);

  await single(pool, (tx) => revokeApiKey(tx, project.test.key.id));
  const revokedAtMs = performance.now();
  // In constant use, so that the answers come from memory whenever they may.
  while (performance.now() - revokedAtMs < 4_800) await statuses();
  expect(await statuses()).toEqual([401, 401]);
  const live = await post(`${services[0]?.url}/v1/events`, project.live.key.secret, EVENT);
  expect(live.status).toBe(200);
});

test("a revocation is seen at the next use of a key that has been idle", async () => {
  const { database, project, find, secret } = await setup();
  expect(await find(secret)).not.toBeNull();
  await database.query("update control.api_keys set revoked_at = now() where id = $1", [project.test.key.id]);
  moveClock(5_000);
  expect(await find(secret)).toBeNull();
});

test("first uses at the same time share one look-up, and later ones need none", async () => {
  const { source, find, secret } = await setup();
  const found = await Promise.all(Array.from({ length: 50 }, () => find(secret)));
  for (let i = 0; i < 100; i++) found.push(await find(secret));
  expect(new Set(found.map((key) => key?.id)).size).toBe(1);
  expect(source.lookups).toBe(1);
});

test("an unknown key is remembered: a flood of it asks the database once", async () => {
  const { source, find } = await setup();
  const unknown = makeApiKey("live");
  for (let i = 0; i < 100; i++) expect(await find(unknown)).toBeNull();
  expect(source.lookups).toBe(1);
});

test("an unknown key is not remembered for ever: once created it works", async () => {
  const { database, project, find } = await setup();
  const secret = makeApiKey("test");
  expect(await find(secret)).toBeNull();
  await database.query(
    "insert into control.api_keys (project_id, environment_id, name, secret_hash, last_four, scopes) values ($1, $2, 'n', $3, 'four', '{events}')",
    [project.projectId, project.test.environmentId, hashSecret(secret)],
  );
  moveClock(5_000);
  expect(await find(secret)).toMatchObject({ environmentKind: "test", scopes: new Set(["events"]) });
});

test("a key with a typo asks the database nothing", async () => {
  const { source, find, secret } = await setup();
  expect(await find(`${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`)).toBeNull();
  expect(source.lookups).toBe(0);
});

test("a key that ends stops at its time, even while it is served from memory", async () => {
  const { database, project, source, find, secret } = await setup();
  await database.query(
    "update control.api_keys set expires_at = now() + interval '1500 milliseconds' where id = $1",
    [project.test.key.id],
  );
  expect(await find(secret)).not.toBeNull();
  moveClock(1_600);
  expect(await find(secret)).toBeNull();
  expect(source.lookups).toBe(1);
});

test("with the control database out of reach a known key works for an hour", async () => {
  const { source, find, secret } = await setup();
  await find(secret);
  source.isReachable = false;
  for (const ms of [3_000, 10_000, 60_000, 3_500_000]) {
    moveClock(ms);
    expect(await find(secret)).not.toBeNull();
  }
  moveClock(100_000);
  await expect(find(secret)).rejects.toThrow();
});

test.each([
  ["never seen", false],
  ["last seen hours ago", true],
])("out of reach, a key %s is neither accepted nor called invalid", async (_, isSeen) => {
  const { source, find, secret } = await setup();
  if (isSeen) await find(secret);
  moveClock(2 * 3_600_000);
  source.isReachable = false;
  await expect(find(secret)).rejects.toThrow();
  source.isReachable = true;
  expect(await find(secret)).not.toBeNull();
});

test("a key revoked after an outage is refused at its next use, however long ago the outage was", async () => {
  const { database, source, find, secret } = await setup();
  await find(secret);
  source.isReachable = false;
  moveClock(5_000);
  expect(await find(secret)).not.toBeNull();
  source.isReachable = true;
  await database.query("update control.api_keys set revoked_at = now()");
  moveClock(60_000);
  expect(await find(secret)).toBeNull();
});

test("out of reach, the database is not asked for every request", async () => {
  const { source, find, secret } = await setup();
  await find(secret);
  source.isReachable = false;
  moveClock(5_000);
  const before = source.lookups;
  for (let i = 0; i < 100; i++) expect(await find(secret)).not.toBeNull();
  expect(source.lookups - before).toBe(1);
});

test("a look-up that hangs is given up", async () => {
  const cache = new ApiKeyCache({ find: () => new Promise(() => {}), touch: async () => {} });
  const startedAtMs = performance.now();
  await expect(cache.find(makeApiKey("test"), startedAtMs)).rejects.toThrow("in time");
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test("a flood of made-up keys waits in bounded number", async () => {
  const cache = new ApiKeyCache({ find: () => new Promise(() => {}), touch: async () => {} });
  const lookUp = async (): Promise<unknown> => cache.find(makeApiKey("live"), performance.now());
  for (let i = 0; i < 256; i++) lookUp().catch(() => {});
  await expect(lookUp()).rejects.toThrow("too many unknown keys at once");
});

test("last use is written for the keys that were used, and only once for many uses", async () => {
  const { database, project, cache, find, secret } = await setup();
  for (let i = 0; i < 10; i++) await find(secret);
  await cache.flushLastUse();
  const used = await database.query("select id from control.api_keys where last_used_at is not null");
  expect(used).toEqual([{ id: project.test.key.id }]);
});
