import { Agent, request } from "node:http";
import { expect, test } from "vitest";
import { ROUTE_STEP } from "../../test/effort.ts";
import { hostileBodies, type Shape } from "../../test/hostile-bodies.ts";
import { setupManage } from "../../test/manage.ts";
import { type MeasuredService, startMeasuredService } from "../../test/measured-service.ts";
import { resolveReferences } from "../../test/resolve-references.ts";

/** Allowance for reading the socket and for measurement noise. */
const FIXED_MICROS = 400;
const CALLS = 8;
const ROUNDS_MAX = 5;

type Route = {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  /** Bodies like the examples, with one very long list. */
  readonly longLists: readonly Shape[];
  readonly isAnonymous: boolean;
  readonly isRuntime: boolean;
};
type Sent = { readonly body?: string; readonly path?: string; readonly headers?: Record<string, string> };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
type Properties = Readonly<
  Record<string, { readonly type?: string; readonly examples?: readonly unknown[] }>
>;
type Described = {
  readonly security: readonly unknown[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: Properties } }>>;
  };
};

/** Every operation in both OpenAPI documents, so that new operations are included. */
async function listRoutes(url: string): Promise<Route[]> {
  const read = async (name: string): Promise<Route[]> => {
    const document = (await (await fetch(`${url}/openapi/${name}.json`)).json()) as Document;
    const { paths } = resolveReferences(document);
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security, requestBody }]) => {
        const properties = requestBody?.content["application/json"]?.schema.properties ?? {};
        return {
          method: method.toUpperCase(),
          path: path.replace("{environment}", "test").replaceAll(/\{\w+\}/g, "1"),
          fields: Object.keys(properties),
          longLists: longListsOf(properties),
          isAnonymous: security.length === 0,
          isRuntime: name === "runtime",
        };
      }),
    );
  };
  const unknown = {
    method: "POST",
    path: "/no/such/path",
    fields: [],
    longLists: [],
    isAnonymous: true,
    isRuntime: false,
  };
  return [...(await read("runtime")), ...(await read("manage")), unknown];
}

/** The routes of this run. A short run tests only a sample of the routes that need a management credential. */
function sample(routes: readonly Route[]): Route[] {
  expect(routes.length).toBeGreaterThan(80);
  return routes.filter(
    ({ isAnonymous, isRuntime }, index) => isAnonymous || isRuntime || index % ROUTE_STEP === 0,
  );
}

function longListsOf(properties: Properties): Shape[] {
  const examples = Object.fromEntries(
    Object.entries(properties).flatMap(([name, { examples }]) =>
      examples === undefined ? [] : [[name, examples[0]]],
    ),
  );
  const items = Array.from({ length: 7_000 }, (_, i) => `i${i}`);
  return Object.entries(properties)
    .filter(([, { type }]) => type === "array")
    .map(([name]) => ({ name: `a long ${name}`, text: JSON.stringify({ ...examples, [name]: items }) }));
}

/** Calls a service and measures the CPU time per call. */
class Meter {
  readonly service: MeasuredService;
  #calls = 0;

  constructor(service: MeasuredService) {
    this.service = service;
  }

  /**
   * Returns null if these calls cost at most `allow` microseconds more than plain calls, otherwise a message with the excess. Other
   * work in the process only adds time, so one round within the allowance is enough. Each round measures the allowance again,
   * because a busy machine slows down everything.
   */
  async findExcess(
    route: Route,
    plain: Sent,
    sent: readonly Sent[],
    allow: () => number | Promise<number>,
  ): Promise<string | null> {
    let found = "";
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const allowed = await allow();
      const plainMicros = await this.#cost(
        route,
        sent.map(() => plain),
      );
      const excess = (await this.#cost(route, sent)) - plainMicros - FIXED_MICROS;
      if (excess <= allowed) return null;
      found = `${excess} µs, ${allowed} allowed`;
    }
    return found;
  }

  /** Average cost of concurrent calls, in microseconds. */
  async #cost(route: Route, sent: readonly Sent[]): Promise<number> {
    const agent = new Agent({ keepAlive: true });
    const before = await this.service.cpuMicros();
    const statuses = await Promise.all(sent.map((each) => this.#send(agent, route, each)));
    const micros = ((await this.service.cpuMicros()) - before) / sent.length;
    agent.destroy();
    if (statuses.some((status) => status >= 500))
      throw new Error(`${route.method} ${route.path}: ${statuses}`);
    return micros;
  }

  #send(
    agent: Agent,
    { method, path }: Route,
    { body = "", path: sentPath = path, headers }: Sent,
  ): Promise<number> {
    this.#calls += 1;
    const options = {
      method,
      agent,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        // From a new address each time, so that limits per address do not apply.
        "x-forwarded-for": `10.${this.#calls >> 16}.${(this.#calls >> 8) & 255}.${this.#calls & 255}`,
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.service.url}${sentPath}`, options);
      outgoing.once("error", reject);
      outgoing.once("response", (incoming) => {
        incoming.resume().once("end", () => resolve(incoming.statusCode ?? 0));
      });
      outgoing.end(body);
    });
  }
}

const times = (count: number, sent: Sent): Sent[] => Array.from({ length: count }, () => sent);

test("before authentication, no body costs more than twice as much as JSON.parse does", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const routes = sample(await listRoutes(meter.service.url));
  const expensive: string[] = [];
  for (const route of routes.filter(({ method }) => method !== "GET")) {
    const { isAnonymous, method, path } = route;
    const shapes = (isAnonymous ? [4_096, 65_536] : [65_536]).flatMap((bytes) =>
      hostileBodies(route.fields, bytes),
    );
    const plain = { body: "{}" };
    // Without a credential, only anonymous routes read the body.
    const all = shapes.map(({ text }) => ({ body: text }));
    if (!isAnonymous && (await meter.findExcess(route, plain, all, () => 0)) === null) continue;
    // The first calls of a new process run code that is not compiled yet.
    for (let call = 0; call < CALLS; call++)
      await meter.findExcess(route, plain, all, () => Number.POSITIVE_INFINITY);
    for (const { name, text } of shapes) {
      const allow = async () => (isAnonymous ? 2 * (await meter.service.parseMicros(text)) : 0);
      const excess = await meter.findExcess(route, plain, times(CALLS, { body: text }), allow);
      if (excess !== null) expensive.push(`${method} ${path}, ${text.length} bytes, ${name}: ${excess}`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);

/**
 * Requests that fill the 16 KiB that Node allows for the request line and headers. A trusted proxy appends the real sender to the
 * forwarded addresses that the sender claimed.
 */
const ROOM = 12_000;
const HEADS: readonly { readonly name: string; readonly sent: (route: Route) => Sent }[] = [
  { name: "many query parameters", sent: ({ path }) => ({ path: `${path}?${"a&".repeat(ROOM / 2)}` }) },
  {
    name: "one query parameter, repeated many times",
    sent: ({ path }) => ({ path: `${path}?${"limit=1&".repeat(ROOM / 8)}` }),
  },
  { name: "escapes in the query", sent: ({ path }) => ({ path: `${path}?q=${"%C3%A4".repeat(ROOM / 6)}` }) },
  {
    name: "broken escapes in the query",
    sent: ({ path }) => ({ path: `${path}?q=${"%C3".repeat(ROOM / 3)}` }),
  },
  { name: "a long path", sent: ({ path }) => ({ path: `${path}${"/a".repeat(ROOM / 2)}` }) },
  { name: "a long parameter", sent: ({ path }) => ({ path: path.replace(/1$/, "%41".repeat(1_000)) }) },
  { name: "many cookies", sent: () => ({ headers: { cookie: "a=%41;".repeat(ROOM / 6) } }) },
  { name: "a long bearer token", sent: () => ({ headers: { authorization: `Bearer ${"a".repeat(ROOM)}` } }) },
  {
    name: "spaces as a bearer token",
    sent: () => ({ headers: { authorization: `Bearer ${" ".repeat(ROOM)}a b` } }),
  },
  { name: "a long origin", sent: () => ({ headers: { origin: `https://${"a.".repeat(ROOM / 2)}a` } }) },
  {
    name: "a long list of forwarders",
    sent: () => ({ headers: { "x-forwarded-for": `${"127.0.0.1, ".repeat(ROOM / 11)}198.51.100.7` } }),
  },
  {
    name: "a long media type",
    sent: () => ({ headers: { "content-type": `text/csv;${" charset=a;".repeat(ROOM / 11)}` } }),
  },
];
/** A few times as long as decoding 12 kB takes. */
const HEAD_MICROS = 1_500;

test("before authentication, no path, query or header is expensive to process", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const expensive: string[] = [];
  for (const route of sample(await listRoutes(meter.service.url))) {
    const all = HEADS.map(({ sent }) => sent(route));
    if ((await meter.findExcess(route, {}, all, () => HEAD_MICROS / HEADS.length)) === null) continue;
    for (const { name, sent } of HEADS) {
      const excess = await meter.findExcess(route, {}, times(CALLS, sent(route)), () => HEAD_MICROS);
      if (excess !== null) expensive.push(`${route.method} ${route.path}, ${name}: ${excess}`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);

/** Enough time to send the largest document, 4 MB. Rendering it for each request took ten times as long. */
const DOCUMENT_MICROS = 6_000;

test("documents and searches that need no authentication are cheap to serve", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const pages = [
    "/docs",
    "/docs/",
    "/docs/guides/management-api",
    "/docs/errors",
    "/docs/no-page",
    "/llms.txt",
  ];
  const searches = ["e", "the of and to in is", "a ".repeat(4_000), "e".repeat(8_000)];
  const paths = [
    ...pages,
    ...searches.map((query) => `/docs/search?q=${encodeURIComponent(query)}`),
    ...["/docs/api/", "/docs/api/js/scalar.js", "/openapi/runtime.json", "/openapi/manage.json"],
  ];
  const expensive: string[] = [];
  for (const path of paths) {
    for (const method of ["GET", "HEAD"]) {
      const route = { method, path, fields: [], longLists: [], isAnonymous: true, isRuntime: false };
      // A search reads all pages, even for a HEAD request.
      const isLight = method === "HEAD" && !path.startsWith("/docs/search");
      const allowed = isLight ? HEAD_MICROS : DOCUMENT_MICROS;
      const excess = await meter.findExcess(route, { path: "/livez" }, times(CALLS, {}), () => allowed);
      if (excess !== null) expensive.push(`${method} ${path.slice(0, 60)}: ${excess}`);
    }
  }
  expect(expensive).toEqual([]);
}, 120_000);

/** Allowance for validating the whole body and reporting its errors. */
const KNOWN_MICROS = 5_000;
const KNOWN_RATIO = 8;

test("an authenticated caller's body costs at most a few times as much as JSON.parse does", async () => {
  const { database, tokens, project } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const expensive: string[] = [];
  for (const route of sample(await listRoutes(meter.service.url))) {
    if (route.isAnonymous || route.fields.length === 0) continue;
    const authorization = `Bearer ${route.isRuntime ? project.test.key.secret : tokens.owner}`;
    const path = route.path.replace("/projects/1/", `/projects/${project.projectId}/`);
    const plain = { path, body: "{}", headers: { authorization } };
    for (const { name, text } of [...hostileBodies(route.fields, 65_536), ...route.longLists]) {
      const allow = async () => KNOWN_MICROS + KNOWN_RATIO * (await meter.service.parseMicros(text));
      const excess = await meter.findExcess(route, plain, [{ ...plain, body: text }], allow);
      if (excess !== null) expensive.push(`${route.method} ${route.path}, ${name}: ${excess}`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);
