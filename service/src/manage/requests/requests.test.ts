import { expect, test } from "vitest";
import { post, startTestService } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

type Item = Record<string, unknown>;

async function list({ manage }: Managed, path: string): Promise<Item[]> {
  return (await manage("GET", path)).body["items"] as Item[];
}

/** Waits until the request log has this many rows. */
async function logged({ database }: Managed, count: number): Promise<void> {
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(count);
}

async function act(managed: Managed): Promise<void> {
  const { consume, check, record } = managed;
  const body = { customerId: "ada", feature: "image.render", idempotencyKey: "a" };
  await consume(body);
  await consume(body);
  await consume({ ...body, quantity: 2 });
  await consume({ ...body, quantity: 200, idempotencyKey: "b" });
  await consume({ ...body, feature: "image.rendr", idempotencyKey: "c" });
  await check({ customerId: "nobody", feature: "image.render" });
  await record({ customerId: "ada", event: "tokens", quantity: 3 });
  await record({ customerId: "ada" });
}

const WAYS = [
  ["events", 400, "invalid_request", null, false],
  ["events", 200, null, null, false],
  ["check", 200, null, "customer_not_found", false],
  ["consume", 404, "feature_not_found", null, false],
  ["consume", 200, null, "insufficient_credits", false],
  ["consume", 409, "idempotency_key_reused", null, false],
  ["consume", 200, null, null, true],
  ["consume", 200, null, null, false],
];

test("at low traffic, every request is logged with its outcome and listed newest first", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 8);
  const items = await list(managed, "requests");
  expect(items.map((item) => [item.endpoint, item.status, item.code, item.reason, item.isReplay])).toEqual(
    WAYS,
  );
  expect(items.at(-1)).toMatchObject({
    customerId: "ada",
    feature: "image.render",
    event: null,
    idempotencyKey: "a",
    requestId: expect.stringMatching(/^req_/),
  });
  expect(items[1]).toMatchObject({ event: "tokens", feature: null, customerId: "ada", idempotencyKey: null });
  expect(items[2]).toMatchObject({ customerId: null });
});

test("a request is logged with the trace ID from its traceparent header", async () => {
  const managed = await setupManage();
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const body = { customerId: "ada", event: "visit", quantity: 1 };
  await managed.record(body, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  await logged(managed, 1);
  await managed.record(body, { traceparent: "not a traceparent" });
  await logged(managed, 2);
  expect((await list(managed, "requests")).map((item) => item["traceId"])).toEqual([null, traceId]);
});

test("the request log can be filtered and paged by cursor", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 8);
  const count = async (query: string) => (await list(managed, `requests?${query}`)).length;
  expect(await count("endpoint=events")).toBe(2);
  expect(await count("status=4xx")).toBe(3);
  expect(await count("status=409")).toBe(1);
  expect(await count("code=feature_not_found")).toBe(1);
  expect(await count("reason=insufficient_credits")).toBe(1);
  // Includes the failed request without an event, because it names the customer too.
  expect(await count("customerId=ada")).toBe(7);
  expect(await count("customerId=ada&status=2xx&endpoint=consume")).toBe(3);
  expect(await count("customerId=nobody")).toBe(0);
  expect(await count("since=2020-01-01T00:00:00Z")).toBe(8);
  expect(await count("since=1965-01-01T00:00:00Z")).toBe(8);
  expect(await count("since=2100-01-01T00:00:00Z")).toBe(0);
  expect(await count("until=2100-01-01T00:00:00Z")).toBe(8);
  expect(await count("until=2020-01-01T00:00:00Z")).toBe(0);
  const [newest] = await list(managed, "requests");
  expect(await count(`until=${newest?.["recordedAt"]}`)).toBeLessThan(8);
  expect(await count("outcome=denied")).toBe(2);
  expect(await count("outcome=failed")).toBe(3);
  expect(await count("outcome=ok")).toBe(3);
  const rendered = (await list(managed, "requests")).filter(({ feature }) => feature === "image.render");
  expect(await count("feature=image.render")).toBe(rendered.length);
  expect(await count("feature=nothing")).toBe(0);
  const seen: unknown[] = [];
  for (let path = "requests?limit=3"; ; ) {
    const { body } = await managed.manage("GET", path);
    seen.push(...(body["items"] as Item[]).map(({ id }) => id));
    if (body["nextCursor"] === null) break;
    path = `requests?limit=3&cursor=${body["nextCursor"]}`;
  }
  expect(seen).toEqual((await list(managed, "requests")).map(({ id }) => id));
  for (const query of ["cursor=x", "after=log_zz", "since=yesterday", "status=9xx"])
    expect((await managed.manage("GET", `requests?${query}`)).status).toBe(400);
});

test("polling with `after` returns every request from every process once", async () => {
  const managed = await setupManage();
  const { manage, consume, database, project } = managed;
  const other = await startTestService(database);
  expect((await manage("GET", "requests")).body).toEqual({
    items: [],
    nextCursor: null,
    latestCursor: null,
    windowStart: null,
  });
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "first" });
  await logged(managed, 1);
  const first = (await manage("GET", "requests")).body;
  let after = first["latestCursor"];
  const seen = (first["items"] as Item[]).map(({ requestId }) => requestId);
  const sending = Promise.all(
    times(40, async (i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 50));
      const body = { customerId: "ada", feature: "text.generate", idempotencyKey: `follow-${i}` };
      return i % 2 === 0 ? consume(body) : post(`${other.url}/v1/consume`, project.test.key.secret, body);
    }),
  );
  while (seen.length < 41) {
    const { body } = await manage("GET", `requests?after=${after}&limit=200`);
    seen.push(...(body["items"] as Item[]).map(({ requestId }) => requestId));
    after = body["latestCursor"];
  }
  const sent = (await sending).map(({ headers }) => headers.get("x-request-id"));
  expect([...seen.slice(1)].sort()).toEqual(sent.sort());
  expect((await manage("GET", `requests?after=${after}`)).body["items"]).toEqual([]);
});

test("the summary counts by hour and outcome, and lists unknown features and unnamed events", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 8);
  const { body } = await managed.manage("GET", "requests/summary?hours=3");
  expect(body["total"]).toEqual({ ok: 3, denied: 2, failed: 3 });
  expect(body["byHour"]).toHaveLength(3);
  expect(body["byOutcome"]).toContainEqual({ endpoint: "consume", code: null, reason: null, requests: 2 });
  expect(body["byOutcome"]).toContainEqual({
    endpoint: "consume",
    code: null,
    reason: "insufficient_credits",
    requests: 1,
  });
  expect(body["byOutcome"]).toContainEqual({
    endpoint: "events",
    code: "invalid_request",
    reason: null,
    requests: 1,
  });
  expect(body["unknownFeatures"]).toMatchObject([{ key: "image.rendr", requests: 1 }]);
  expect(body["unnamedEvents"]).toMatchObject([{ key: "tokens", requests: 1 }]);
  const name = { name: "Tokens" };
  expect((await managed.manage("PUT", "event-keys/tokens", { body: name })).status).toBe(200);
  expect((await managed.manage("GET", "requests/summary")).body["unnamedEvents"]).toEqual([]);
  expect((await managed.manage("GET", "requests/summary?hours=169")).status).toBe(400);
});

test("a customer's request list contains each charge, denial and other logged request once", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 8);
  const kinds = (await list(managed, "customers/ada/requests")).map((item) => [
    item.kind,
    item.endpoint,
    item.code ?? item.reason,
    item.credits,
  ]);
  expect(kinds).toHaveLength(7);
  expect(kinds).toContainEqual(["charge", "consume", null, 10]);
  expect(kinds).toContainEqual(["denial", "consume", "insufficient_credits", 2000]);
  expect(kinds).toContainEqual(["logged", "consume", "idempotency_key_reused", null]);
  expect(kinds).toContainEqual(["logged", "events", null, null]);
  expect((await managed.manage("GET", "customers/nobody/requests")).status).toBe(404);
});

test("the pages of a customer's request list contain charges, denials and logged requests without duplicates", async () => {
  const managed = await setupManage();
  const { consume, record, topUp, manage } = managed;
  await topUp("ada", 1000);
  for (let i = 0; i < 6; i++) {
    const body = { customerId: "ada", feature: "image.render" };
    await Promise.all([
      consume({ ...body, idempotencyKey: `yes-${i}` }),
      consume({ ...body, idempotencyKey: `no-${i}`, quantity: 1000 }),
      record({ customerId: "ada", event: "tokens", quantity: 1 }),
    ]);
  }
  await logged(managed, 18);
  const seen: Item[] = [];
  for (let path = "customers/ada/requests?limit=4"; ; ) {
    const { body } = await manage("GET", path);
    seen.push(...(body["items"] as Item[]));
    if (body["nextCursor"] === null) break;
    path = `customers/ada/requests?limit=4&cursor=${body["nextCursor"]}`;
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(18);
  expect(seen).toHaveLength(18);
  const times = seen.map(({ recordedAt }) => String(recordedAt));
  expect(times).toEqual([...times].sort().reverse());
  expect((await manage("GET", "customers/ada/requests?cursor=nonsense")).status).toBe(400);
});

test("a customer's request list can be filtered by outcome, feature and time, and its pages are full", async () => {
  const managed = await setupManage();
  const { consume, record, topUp, manage } = managed;
  await topUp("ada", 1000);
  for (let i = 0; i < 5; i++) {
    const body = { customerId: "ada", feature: "image.render" };
    await consume({ ...body, idempotencyKey: `yes-${i}` });
    await consume({ ...body, idempotencyKey: `no-${i}`, quantity: 1000 });
    await record({ customerId: "ada", event: "tokens", quantity: 1 });
  }
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "export" });
  await consume({ customerId: "ada", feature: "nothing", idempotencyKey: "rejected" });
  await logged(managed, 17);
  const all = await list(managed, "customers/ada/requests");
  const walk = async (query: string) => {
    const pages: Item[][] = [];
    for (let cursor = ""; ; ) {
      const { status, body, text } = await manage("GET", `customers/ada/requests?limit=2&${query}${cursor}`);
      expect(status, text).toBe(200);
      pages.push(body["items"] as Item[]);
      if (body["nextCursor"] === null)
        return { found: pages.flat(), sizes: pages.map(({ length }) => length) };
      cursor = `&cursor=${body["nextCursor"]}`;
    }
  };
  const denied = await walk("outcome=denied");
  expect(denied.found).toEqual(all.filter(({ kind }) => kind === "denial"));
  expect(denied.sizes).toEqual([2, 2, 1]);
  expect((await walk("reason=insufficient_credits")).found).toEqual(denied.found);
  expect((await walk("reason=limit_reached")).found).toEqual([]);
  expect((await walk("outcome=failed")).found).toMatchObject([{ code: "feature_not_found" }]);
  expect((await walk("feature=export")).found).toMatchObject([{ kind: "charge", feature: "export" }]);
  expect((await walk("feature=image.render&outcome=ok")).found).toHaveLength(5);
  const [from, to] = [String(all[9]?.recordedAt), String(all[4]?.recordedAt)];
  const within = all.filter(({ recordedAt }) => String(recordedAt) >= from && String(recordedAt) < to);
  expect(within.length).toBeGreaterThan(2);
  expect((await walk(`from=${from}&to=${to}`)).found).toEqual(within);
  expect((await walk(`from=${from}&to=${to}&outcome=denied`)).found).toEqual(
    within.filter(({ kind }) => kind === "denial"),
  );
  expect((await manage("GET", "customers/ada/requests?from=yesterday")).status).toBe(400);
});

test("requests before the history window are hidden", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 8);
  const { database, manage } = managed;
  const [denial] = await list(managed, "customers/ada/denials");
  await database.query("update control.workspace_plans set history_days_max = 1");
  expect(await list(managed, "requests")).toHaveLength(8);
  await database.query("update cell.request_log set recorded_at = recorded_at - interval '2 days'");
  for (const table of ["ledger", "denials"])
    await database.query(`alter table cell.${table} disable trigger user`);
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await database.query("update cell.ledger set recorded_at = recorded_at - interval '2 days'");
  expect(await list(managed, "requests")).toEqual([]);
  expect(await list(managed, "customers/ada/requests")).toMatchObject([{ kind: "denial" }]);
  expect((await manage("GET", `denials/${denial?.["denialId"]}`)).status).toBe(200);
});
