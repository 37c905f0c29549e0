import Fastify, { type FastifyInstance } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";
import { openTestPool } from "../../test/seed.ts";
import { times } from "../../test/two-services.ts";
import { openLog } from "../edge/log.ts";
import { Metrics } from "../edge/metrics.ts";
import { observeRequests } from "../edge/observe.ts";
import { forgetOldRequests } from "../jobs/forget-old-requests.ts";
import type { Pool } from "../postgres/pool.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../primitives/brand.ts";
import { ENTRIES_MAX, OTHERS_MAX, RequestLog, SUCCESSES_MAX } from "./request-log.ts";

function poolOf(url: string): Pool {
  const pool = openTestPool(url, 2);
  onTestFinished(() => pool.end());
  return pool;
}

/** A test server. Each request names its environment and the response to send. */
function serve(log: RequestLog): FastifyInstance {
  const app = Fastify();
  onTestFinished(() => app.close());
  observeRequests(app, { log: openLog("silent"), metrics: new Metrics(), tracing: null });
  const route = { onResponse: log.observe("consume") };
  app.post<{ Body: { environment: number; reason: string | null } }>(
    "/v1/consume",
    route,
    (request, reply) => {
      const { environment, reason } = request.body;
      reply.denialReason = reason;
      request.apiKey = {
        id: 1,
        projectId: brandAs<ProjectId>(1),
        environmentId: brandAs<EnvironmentId>(environment),
        environmentKind: "test",
        cell: "main",
        scopes: new Set(["consume"]),
        metadataLimits: { bytesMax: 1, keysMax: 1, depthMax: 1 },
        historyDaysMax: null,
        requestsPerSecondMax: null,
        expiresInMs: null,
      };
      return reply.send({});
    },
  );
  return app;
}

const ask = (app: FastifyInstance, environment: number, reason: string | null = null) =>
  app.inject({ method: "POST", url: "/v1/consume", body: { environment, reason } });

const countAll = async (database: TestDatabase): Promise<number> =>
  Number((await database.query("select sum(requests)::integer as n from cell.request_counts"))[0]?.["n"]);

test("entries for a burst are sampled per environment and limited in total, and every request is counted", async () => {
  const database = await createDatabase();
  const dropped: Record<string, number> = {};
  const pool = poolOf(database.serviceUrl);
  const log = new RequestLog({
    cellOf: () => pool,
    onDropped: (why, count) => {
      dropped[why] = (dropped[why] ?? 0) + count;
    },
  });
  const app = serve(log);
  await Promise.all(times(SUCCESSES_MAX + 50, () => ask(app, 1)));
  await Promise.all(times(OTHERS_MAX + 50, () => ask(app, 1, "limit_reached")));
  expect(log.size).toBe(SUCCESSES_MAX + OTHERS_MAX);
  await Promise.all(times(ENTRIES_MAX, (i) => ask(app, 2 + (i % 10), "limit_reached")));
  expect(log.size).toBe(ENTRIES_MAX);
  await log.flush();
  expect(await database.count("cell.request_log")).toBe(ENTRIES_MAX);
  expect(await countAll(database)).toBe(ENTRIES_MAX + SUCCESSES_MAX + OTHERS_MAX + 100);
  expect(dropped).toEqual({ sampled: 50, full: 50 + SUCCESSES_MAX + OTHERS_MAX });
  await ask(app, 1);
  await log.flush();
  expect(await database.count("cell.request_log", "reason is null")).toBe(SUCCESSES_MAX + 1);
});

test("entries from a failed flush are written in order by the next flush, and are counted once", async () => {
  const database = await createDatabase();
  let pool = poolOf("postgres://nobody@127.0.0.1:1/none");
  const log = new RequestLog({ cellOf: () => pool, onDropped: () => {} });
  const app = serve(log);
  await ask(app, 1, "limit_reached");
  await expect(log.flush()).rejects.toThrow();
  await ask(app, 1);
  await expect(log.flush()).rejects.toThrow();
  pool = poolOf(database.serviceUrl);
  await log.flush();
  const rows = await database.query("select reason from cell.request_log order by id");
  expect(rows).toEqual([{ reason: "limit_reached" }, { reason: null }]);
  expect(await countAll(database)).toBe(2);
  await log.flush();
  expect(await database.count("cell.request_log")).toBe(2);
});

test("the log contains no metadata, API key, idempotency key or customer ID", async () => {
  const { consume, check, record, assign, database, project } = await setupManage();
  const customerId = "carol@example.com";
  await assign(customerId);
  const metadata = { to: "carol@example.com", note: "very private" };
  const body = { customerId, feature: "image.render", metadata, idempotencyKey: "carols-key" };
  await consume(body);
  await consume({ ...body, metadata: { note: "very private too" } });
  await consume({ ...body, metadata: { a: "very private" }, quantity: 500, idempotencyKey: "carols-2" });
  await consume({ ...body, quantity: "very private" });
  await check(body);
  await record({ customerId: "dave@example.com", event: "sent", quantity: 1, metadata });
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(6);
  const text = JSON.stringify(await database.query("select l.* from cell.request_log as l"));
  for (const word of ["carol", "dave", "private", project.test.key.secret, "pur_test"])
    expect(text).not.toContain(word);
  expect(await database.count("cell.request_log", "customer_number is not null")).toBe(6);
});

test("requests older than a week are deleted in batches, even concurrently, and newer ones are kept", async () => {
  const { database, cell } = await setupManage();
  await database.query(`
    insert into cell.request_log
      (environment_id, id, recorded_at, request_id, endpoint, status, is_replay, duration_ms)
    select
      i % 3,
      rpad(lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0') || lpad(to_hex(i), 20, '0'), 32, '0')::uuid,
      t.at, 'old', 'check', 200, false, 1
    from generate_series(1, 5000) as i
    cross join lateral (select now() - make_interval(days => case when i <= 4990 then 8 else 6 end) as at) as t`);
  await database.query(`
    insert into cell.request_counts
    select 1, date_trunc('hour', now()) - make_interval(days => d), 'check', 'ok', 1 from unnest(array[6, 8]) as d`);
  const forgotten = await Promise.all([forgetOldRequests(cell), forgetOldRequests(cell)]);
  expect(Math.max(...forgotten)).toBeGreaterThan(0);
  await forgetOldRequests(cell);
  expect(await database.count("cell.request_log")).toBe(10);
  expect(await database.count("cell.request_counts")).toBe(1);
  expect(await forgetOldRequests(cell)).toBe(0);
});
