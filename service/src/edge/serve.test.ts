import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDatabase, createTestProject, post, type Reply } from "../../test/harness.ts";
import { servePurser } from "../../test/purser.ts";
import { makeApiKey } from "../primitives/secret.ts";

// The service as a separate process, observed through its standard output and exit code.

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";

async function setup(settings: Record<string, string> = {}) {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const served = await servePurser(database.serviceUrl, settings);
  const record = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    post(`${served.url}/v1/events`, project.test.key.secret, body, headers);
  return { database, project, record, ...served };
}

/** Stops the process. Returns its exit code and how long the stop took. */
async function stop(child: ChildProcess): Promise<{ code: unknown; tookMs: number }> {
  const startedAtMs = performance.now();
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await exited;
  return { code, tookMs: performance.now() - startedAtMs };
}

test("at debug level the log has every request, but no key, header, query or body", async () => {
  const { database, project, url, child, output, record } = await setup({ LOG_LEVEL: "debug" });
  // Includes an internal error, because the detail of its database error has the whole row.
  await database.query("alter table cell.events add constraint no_bombs check (event <> 'planted-bomb')");
  const wrongKey = makeApiKey("test");
  const event = {
    customerId: "planted-customer",
    event: "planted-event",
    quantity: 1,
    metadata: { "planted-name": "planted-value" },
    idempotencyKey: "planted-key",
  };
  const bodies = [
    event,
    event,
    { ...event, quantity: 2 },
    { ...event, idempotencyKey: "planted-other", timestamp: "2020-01-01T00:00:00Z" },
    { ...event, "planted-field": 1 },
    { ...event, customerId: "planted\0nul" },
    '{"planted-broken',
    { ...event, event: "planted-bomb", idempotencyKey: "planted-bomb" },
  ];
  const statuses: number[] = [];
  for (const [index, body] of bodies.entries()) {
    const headers = {
      "x-request-id": `request-${index}`,
      traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
      cookie: "planted-cookie",
      "x-api-key": "planted-header",
    };
    statuses.push((await record(body, headers)).status);
  }
  statuses.push((await post(`${url}/v1/events?planted-query=1`, wrongKey, event)).status);
  statuses.push((await post(`${url}/planted-path`, wrongKey, event)).status);
  statuses.push((await post(`${url}/v1/events`, `planted ${wrongKey}`, event)).status);
  expect(statuses).toEqual([200, 200, 409, 422, 400, 400, 400, 500, 401, 404, 401]);
  await stop(child);

  for (const index of bodies.keys()) expect(output()).toContain(`"requestId":"request-${index}"`);
  expect(output()).toContain(`"requestId":"request-0","traceId":"${TRACE_ID}"`);
  expect(output()).toContain("no_bombs");
  expect(output()).not.toMatch(/planted/);
  for (const secret of [project.test.key.secret, wrongKey]) expect(output()).not.toContain(secret);
  expect(output()).not.toMatch(/bearer/i);
});

test("after SIGTERM, queued requests and a request that is still being sent get a response", {
  timeout: 60_000,
}, async () => {
  const { database, project, url, metricsUrl, child, record } = await setup();
  await database.query(`
    create function slow() returns trigger language plpgsql
    as $$ begin perform pg_sleep(1.5); return null; end $$`);
  await database.query(
    "create trigger slow before insert on cell.events for each statement execute function slow()",
  );
  const body = JSON.stringify({ customerId: "c", event: "e", quantity: 1 });
  const halfSent = request(`${url}/v1/events`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${project.test.key.secret}`,
      "content-type": "application/json",
      "content-length": body.length,
    },
  });
  const answer = once(halfSent, "response");
  halfSent.write(body.slice(0, 10));
  const replies = [record(body)];
  const asleep = () =>
    database.count("pg_stat_activity", "datname = current_database() and wait_event = 'PgSleep'");
  await expect.poll(asleep).toBe(1);
  // The lane is busy with the first request, so these requests wait in its queue.
  for (let i = 0; i < 49; i++) replies.push(record(body));
  const queued = async () =>
    /^purser_queue_requests (\d+)/m.exec(await (await fetch(`${metricsUrl}/metrics`)).text())?.[1];
  await expect.poll(queued, { interval: 20 }).toBe("49");

  const stopped = stop(child);
  await sleep(100);
  halfSent.end(body.slice(10));
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(50).fill(200));
  expect((await answer)[0].statusCode).toBe(200);
  const { code, tookMs } = await stopped;
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(25_000);
  expect(await database.count("cell.events")).toBe(51);
});

test("after SIGTERM under load, every executed request gets a response, and the process exits with 0", {
  timeout: 60_000,
}, async () => {
  const { database, child, record } = await setup();
  const answered: unknown[] = [];
  const refused: unknown[] = [];
  const call = async (caller: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const event = { customerId: `c${caller}`, event: "e", quantity: 1, idempotencyKey: `${caller}-${i}` };
      const reply = await record(event).catch(() => null);
      // Not executed, because the connection was refused or closed before the request was read.
      if (reply === null) return;
      (reply.status === 200 ? answered : refused).push(reply.body);
    }
  };
  const callers = Array.from({ length: 30 }, (_, caller) => call(caller));
  await expect.poll(() => answered.length).toBeGreaterThan(300);

  const { code, tookMs } = await stop(child);
  await Promise.all(callers);
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(25_000);
  expect(refused).toEqual([]);
  expect(await database.count("cell.events")).toBe(answered.length);
});

test("metrics show how often and how long each job ran, and when it last succeeded", {
  timeout: 60_000,
}, async () => {
  const { metricsUrl } = await setup();
  const read = async () => (await fetch(`${metricsUrl}/metrics`)).text();
  for (const job of ["usage", "expiries"])
    await expect
      .poll(read, { timeout: 10_000 })
      .toMatch(new RegExp(`^purser_job_runs_total\\{name="${job}",outcome="done"\\} [1-9]`, "m"));
  const text = await read();
  expect(text).toMatch(/^purser_job_last_success_timestamp_seconds\{name="usage"\} \d{10}/m);
  expect(text).toMatch(/^purser_job_seconds_total\{name="usage"\} 0\.\d/m);
  const lagSeconds = async () => Number(/^purser_usage_lag_seconds (.*)$/m.exec(await read())?.[1]);
  await expect.poll(lagSeconds).toBeLessThan(5);
});
