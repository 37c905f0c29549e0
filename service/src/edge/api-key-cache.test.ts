import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { connectTo, createDatabase, createTestProject, post, startTestService } from "../../test/harness.ts";
import { Wire } from "../../test/wire.ts";
import { openPool } from "../postgres/pool.ts";
import { isOutOfReach } from "../postgres/sql-error.ts";
import { lossyTransaction, single } from "../postgres/transaction.ts";
import { hashSecret, makeApiKey } from "../primitives/secret.ts";
import { findLiveApiKeys, touchApiKeys } from "../store/control/api-keys.ts";
import { ApiKeyCache, type ApiKeySource } from "./api-key-cache.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1 };
const GRACE_MS = 300_000;

/** The real lookup with a counter, over a connection that the test can cut or stall. */
async function setup({ graceMs = GRACE_MS } = {}) {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const wire = await Wire.open();
  const pool = openPool({ url: wire.urlOf(database), name: "test", sizeMax: 2, onIdleError: () => {} });
  onTestFinished(() => pool.end());
  const source = {
    lookups: 0,
    find(secrets: readonly string[]) {
      source.lookups += 1;
      return single(pool, (tx) => findLiveApiKeys(tx, secrets.map(hashSecret)));
    },
    touch: (ids: readonly number[]) => lossyTransaction(pool, (tx) => touchApiKeys(tx, ids)),
    isOutOfReach,
  } satisfies ApiKeySource & Record<string, unknown>;
  const cache = new ApiKeyCache(source, { graceMs });
  const find = (secret: string) => Promise.resolve(cache.find(secret, performance.now()));
  /** Polls, because on a busy machine a lookup may take longer than a request waits for it. */
  const findsKey = () => expect.poll(() => find(project.test.key.secret)).not.toBeNull();
  const revoke = () =>
    database.query("update control.api_keys set revoked_at = now() where id = $1", [project.test.key.id]);
  return { database, project, wire, source, cache, find, findsKey, revoke, secret: project.test.key.secret };
}

let clockOffsetMs = 0;

beforeEach(() => {
  const now = performance.now.bind(performance);
  clockOffsetMs = 0;
  const moved = vi.spyOn(performance, "now").mockImplementation(() => now() + clockOffsetMs);
  onTestFinished(() => moved.mockRestore());
});

/** Moves the clock of this process only, not the database's. */
function moveClock(ms: number): void {
  clockOffsetMs += ms;
}

test("a revocation takes effect in every process within 5 s", { timeout: 20_000 }, async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const services = [await startTestService(database), await startTestService(database)];
  const statuses = () =>
    Promise.all(
      services.map(
        async ({ url }) => (await post(`${url}/v1/events`, project.test.key.secret, EVENT)).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200]);

  await database.query("update control.api_keys set revoked_at = now() where id = $1", [project.test.key.id]);
  const revokedAtMs = performance.now();
  // Uses the keys constantly, so that responses come from memory whenever possible.
  while (performance.now() - revokedAtMs < 4_800) await statuses();
  expect(await statuses()).toEqual([401, 401]);
  const live = await post(`${services[0]?.url}/v1/events`, project.live.key.secret, EVENT);
  expect(live.status).toBe(200);
});

test("a revocation takes effect at the next use of an idle key", async () => {
  const { revoke, find, secret } = await setup();
  expect(await find(secret)).not.toBeNull();
  await revoke();
  moveClock(5_000);
  expect(await find(secret)).toBeNull();
});

test("concurrent first uses share one lookup, and later uses need none", async () => {
  const { source, find, secret } = await setup();
  const found = await Promise.all(Array.from({ length: 50 }, () => find(secret)));
  for (let i = 0; i < 100; i++) found.push(await find(secret));
  expect(new Set(found.map((key) => key?.id)).size).toBe(1);
  expect(source.lookups).toBe(1);
});

test("an unknown key is cached, so a flood of requests with it causes one lookup", async () => {
  const { source, find } = await setup();
  const unknown = makeApiKey("live");
  for (let i = 0; i < 100; i++) expect(await find(unknown)).toBeNull();
  expect(source.lookups).toBe(1);
});

test("an unknown key is not cached forever, so it works soon after it is created", async () => {
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

test("a malformed key causes no lookup", async () => {
  const { source, find, secret } = await setup();
  expect(await find(`${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`)).toBeNull();
  expect(source.lookups).toBe(0);
});

test("a key stops working when it expires, even while it is cached", async () => {
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

test("while the database does not respond in time, a revoked key is rejected", async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const { url } = await startTestService(database);
  const status = async () => (await post(`${url}/v1/events`, project.test.key.secret, EVENT)).status;
  await expect.poll(status).toBe(200);
  await database.query("update control.api_keys set revoked_at = now() where id = $1", [project.test.key.id]);
  const blocker = await connectTo(database);
  await blocker.query("begin; lock table control.api_keys in access exclusive mode");
  moveClock(5_000);
  for (let i = 0; i < 5; i++) expect(await status()).toBe(503);
  await blocker.query("commit");
  await expect.poll(status).toBe(401);
});

test("a revocation found by a late lookup takes effect without another lookup", async () => {
  const { wire, source, cache, revoke, find, findsKey, secret } = await setup();
  await findsKey();
  await revoke();
  wire.hold();
  moveClock(5_000);
  const before = source.lookups;
  await expect(find(secret)).rejects.toThrow("in time");
  wire.release();
  await expect.poll(() => cache.find(secret, performance.now())).toBeNull();
  expect(source.lookups - before).toBe(1);
});

test("a cached key's age starts when its query is sent, not when the response arrives", async () => {
  const { wire, find, findsKey, secret } = await setup();
  await findsKey();
  wire.hold();
  moveClock(5_000);
  const waiting = find(secret);
  waiting.catch(() => {});
  moveClock(5_000);
  wire.release();
  await expect(waiting).rejects.toThrow("too late");
  await findsKey();
});

test("while the database is unreachable, a known key works until the grace period ends", async () => {
  const { wire, find, findsKey, secret } = await setup();
  await findsKey();
  wire.cut({ refusing: true });
  for (const ms of [3_000, 10_000, 60_000, 220_000]) {
    moveClock(ms);
    await findsKey();
  }
  moveClock(10_000);
  await expect(find(secret)).rejects.toThrow();
});

test("while the database is unreachable, a known key is rejected if there is no grace period", async () => {
  const { wire, find, findsKey, secret } = await setup({ graceMs: 0 });
  await findsKey();
  wire.cut({ refusing: true });
  moveClock(5_000);
  await expect(find(secret)).rejects.toThrow();
});

test("the grace period ends when the database is reachable again, even if it is slow", async () => {
  const { wire, find, findsKey, secret } = await setup();
  await findsKey();
  wire.cut({ refusing: true });
  moveClock(5_000);
  await findsKey();
  wire.mend();
  moveClock(5_000);
  await findsKey();
  wire.hold();
  moveClock(5_000);
  await expect(find(secret)).rejects.toThrow("in time");
});

test.each([
  ["never seen", false],
  ["last seen hours ago", true],
])("during an outage, a key %s is neither accepted nor reported as invalid", async (_, isSeen) => {
  const { wire, find, findsKey, secret } = await setup();
  if (isSeen) await findsKey();
  moveClock(2 * 3_600_000);
  wire.cut({ refusing: true });
  await expect(find(secret)).rejects.toThrow();
  wire.mend();
  await findsKey();
});

test("a key revoked after an outage is rejected at its next use", async () => {
  const { wire, revoke, find, findsKey, secret } = await setup();
  await findsKey();
  wire.cut({ refusing: true });
  moveClock(5_000);
  await findsKey();
  wire.mend();
  await revoke();
  moveClock(60_000);
  expect(await find(secret)).toBeNull();
});

test("an unreachable database is not queried for every request", async () => {
  const { wire, source, find, findsKey, secret } = await setup();
  await findsKey();
  wire.cut({ refusing: true });
  moveClock(5_000);
  await findsKey();
  const before = source.lookups;
  for (let i = 0; i < 100; i++) expect(await find(secret)).not.toBeNull();
  expect(source.lookups - before).toBeLessThan(10);
});

const HANGING: ApiKeySource = {
  find: () => new Promise(() => {}),
  touch: async () => {},
  isOutOfReach,
};

test("a request stops waiting for a lookup that hangs", async () => {
  const cache = new ApiKeyCache(HANGING, { graceMs: GRACE_MS });
  const startedAtMs = performance.now();
  await expect(cache.find(makeApiKey("test"), startedAtMs)).rejects.toThrow("in time");
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test("the queue of made-up keys is bounded", async () => {
  const cache = new ApiKeyCache(HANGING, { graceMs: GRACE_MS });
  const lookUp = async (): Promise<unknown> => cache.find(makeApiKey("live"), performance.now());
  for (let i = 0; i < 2_050; i++) lookUp().catch(() => {});
  await expect(lookUp()).rejects.toThrow("too many unknown keys at once");
});

test("known keys are refreshed while made-up keys wait for a slow database", async () => {
  const { source, secret: known } = await setup();
  const key = (await source.find([known])).get(0);
  if (key === undefined) throw new Error("the key is not valid");
  const connections = 4;
  let [free, asked, questions] = [connections, 0, 0];
  const waiting: (() => void)[] = [];
  /** A pool with a queue, and a database with 16 ms latency. */
  const distant: ApiKeySource = {
    ...HANGING,
    find: async (secrets) => {
      asked += secrets.length;
      questions += 1;
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
      await new Promise((resolve) => setTimeout(resolve, 16));
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
      return new Map(secrets[0] === known ? [[0, key]] : []);
    },
  };
  const cache = new ApiKeyCache(distant, { graceMs: 0 });
  const find = async (secret: string) => cache.find(secret, performance.now());
  expect(await find(known)).toBe(key);
  moveClock(5_000);
  [asked, questions] = [0, 0];
  for (let i = 0; i < 2_000; i++) find(makeApiKey("live")).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(questions).toBeLessThan(connections);
  expect(await find(known)).toBe(key);
  // All made-up keys are looked up eventually.
  await expect.poll(() => asked, { timeout: 20_000 }).toBe(2_001);
  expect(questions).toBeLessThan(10);
}, 30_000);

test("the last-used time is written for each key that was used", async () => {
  const { database, project, cache, find, secret } = await setup();
  for (let i = 0; i < 10; i++) await find(secret);
  await cache.flushLastUse();
  const used = await database.query("select id from control.api_keys where last_used_at is not null");
  expect(used).toEqual([{ id: project.test.key.id }]);
});
