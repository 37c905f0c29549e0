import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { createDatabase, createTestProject, post, setup } from "../../test/harness.ts";
import { servePurser } from "../../test/purser.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const FLAGGED = { sampled: `00-${TRACE}-${PARENT}-01`, unsampled: `00-${TRACE}-${PARENT}-00` };
const EVENT = {
  customerId: "secret-customer",
  event: "visit",
  quantity: 1,
  metadata: { city: "secret-city" },
};

type Value = { stringValue?: string; intValue?: number };
type Span = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number };
  attributes: { key: string; value: Value }[];
};
type Export = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

type Collector = { readonly url: string; readonly texts: string[]; readonly spans: () => Span[] };

/** Receives OTLP as JSON. If `status` is null, accepts connections and never responds. */
async function startCollector(status: number | null = 200): Promise<Collector> {
  const texts: string[] = [];
  const server: Server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    expect(request.url).toBe("/v1/traces");
    texts.push(text);
    if (status !== null) response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const spans = () =>
    texts
      .flatMap((text) => (JSON.parse(text) as Export).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return { url: `http://127.0.0.1:${port}`, texts, spans };
}

function attributesOf({ attributes }: Span): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}

test("a request's span is a child of its traceparent, with child spans for the queue, the read and the write", async () => {
  const collector = await startCollector();
  const { service, record } = await setup({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  expect((await record(EVENT, { traceparent: FLAGGED.sampled })).status).toBe(200);
  await service.stop();
  const spans = collector.spans();
  expect(spans.map(({ name }) => name).sort()).toEqual(["POST /v1/events", "queue", "read", "write"]);
  const of = (name: string): Span => spans.find((span) => span.name === name) as Span;
  const root = of("POST /v1/events");
  expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2, status: { code: 0 } });
  expect(attributesOf(root)).toMatchObject({
    "http.request.method": "POST",
    "http.route": "/v1/events",
    "http.response.status_code": 200,
    "purser.environment": "test",
  });
  for (const name of ["queue", "read", "write"])
    expect(of(name)).toMatchObject({ traceId: TRACE, parentSpanId: root.spanId });
  const times = [
    root.startTimeUnixNano,
    of("queue").startTimeUnixNano,
    of("queue").endTimeUnixNano,
    of("read").startTimeUnixNano,
    of("read").endTimeUnixNano,
    of("write").startTimeUnixNano,
    of("write").endTimeUnixNano,
    root.endTimeUnixNano,
  ].map(BigInt);
  expect(times).toEqual(times.toSorted((a, b) => Number(a - b)));
  expect(collector.texts.join()).not.toContain("secret");
});

test("check and consume requests are traced, and spans of failed requests have the error code", async () => {
  const collector = await startCollector();
  const { service, project } = await setupCredits({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const { secret } = project.test.key;
  const body = { customerId: "ada", feature: "image.render", idempotencyKey: "k" };
  // An unsampled request loads the catalog. A request that waits for the catalog would enter the queue twice.
  await post(`${service.url}/v1/check`, secret, body, { traceparent: FLAGGED.unsampled });
  expect((await post(`${service.url}/v1/check`, secret, body)).status).toBe(200);
  expect((await post(`${service.url}/v1/consume`, secret, body)).status).toBe(200);
  expect((await post(`${service.url}/v1/consume`, "wrong", body)).status).toBe(401);
  await fetch(`${service.url}/livez`);
  await service.stop();
  const spans = collector.spans();
  const roots = spans.filter(({ kind }) => kind === 2);
  expect(roots.map(({ name }) => name)).toEqual(["POST /v1/check", "POST /v1/consume", "POST /v1/consume"]);
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(3);
  const steps = roots.map(({ spanId }) => spans.filter((s) => s.parentSpanId === spanId).map((s) => s.name));
  expect(steps).toEqual([["queue", "read"], ["queue", "read", "write"], []]);
  expect(attributesOf(roots[2] as Span)).toMatchObject({
    "http.response.status_code": 401,
    "purser.problem_code": "api_key_invalid",
  });
});

test("an unsampled request is not exported", async () => {
  const collector = await startCollector();
  const { service, record } = await setup({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
  });
  expect((await record(EVENT, { traceparent: FLAGGED.unsampled })).status).toBe(200);
  expect((await record(EVENT)).status).toBe(200);
  await service.stop();
  expect(collector.spans().filter(({ kind }) => kind === 2)).toHaveLength(1);
  expect(collector.spans().filter(({ traceId }) => traceId === TRACE)).toEqual([]);
});

test("a collector that never responds delays no request, and delays shutdown only up to a limit", async () => {
  const collector = await startCollector(null);
  const { service, record } = await setup({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  // More than a full batch of spans, so that an export is under way.
  for (let i = 0; i < 20; i++) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => record(EVENT)));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  }
  expect(collector.texts.length).toBeGreaterThan(0);
  const startMs = performance.now();
  await service.stop();
  expect(performance.now() - startMs).toBeLessThan(8_000);
});

/** Prints the OpenTelemetry packages that a process loads. */
const WATCH = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from "node:module";
   registerHooks({ load(url, context, next) {
     const name = /@opentelemetry\\/([a-z-]+)/.exec(url)?.[1];
     if (name !== undefined) console.error("loaded " + name);
     return next(url, context);
   } });`,
)}`;

test("the OpenTelemetry SDK is loaded only if an endpoint is set, and a failing collector is logged once", async () => {
  const database = await createDatabase();
  const { test: environment } = await createTestProject(database);
  const loadedBy = async (settings: Record<string, string>) => {
    const { url, output } = await servePurser(database.url, {
      NODE_OPTIONS: `--import=${WATCH}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: "100",
      ...settings,
    });
    // Each request creates three spans, so that two batches of 512 are exported without waiting for the timer.
    for (let i = 0; i < 18; i++) {
      const send = () => post(`${url}/v1/events`, environment.key.secret, EVENT);
      const replies = await Promise.all(Array.from({ length: 20 }, send));
      expect(replies.every(({ status }) => status === 200)).toBe(true);
    }
    return output;
  };
  const without = await loadedBy({ OTEL_TRACES_SAMPLER: "always_on" });
  // The metrics library itself loads the `api` package.
  expect(new Set(without().match(/loaded [a-z-]+/g) ?? [])).toEqual(new Set(["loaded api"]));
  const collector = await startCollector(400);
  const output = await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  expect(output()).toContain("loaded sdk-trace");
  await expect.poll(() => collector.texts.length).toBeGreaterThan(1);
  expect(output().match(/spans cannot be exported/g)).toHaveLength(1);
});
