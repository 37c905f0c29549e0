import { Agent, request } from "node:http";
import { expect, test } from "vitest";
import { hostileBodies, type Shape } from "../../test/hostile-bodies.ts";
import { setupManage } from "../../test/manage.ts";
import { type MeasuredService, startMeasuredService } from "../../test/measured-service.ts";

/** For taking the bytes off the socket, and for the noise of measuring. */
const FIXED_MICROS = 400;
const CALLS = 4;
const ROUNDS_MAX = 5;

type Route = {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  /** Bodies whose fields are as in the examples, but for one list that is very long. */
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

/** Every operation of both documents, so that a new one is tested too. */
async function listRoutes(url: string): Promise<Route[]> {
  const read = async (name: string): Promise<Route[]> => {
    const { paths } = (await (await fetch(`${url}/openapi/${name}.json`)).json()) as Document;
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

/** Calls a service, and says what a call costs its process. */
class Meter {
  readonly service: MeasuredService;
  #calls = 0;

  constructor(service: MeasuredService) {
    this.service = service;
  }

  /** What these calls cost beyond so many plain ones, in microseconds for each, the noise left out. */
  async excessOf(
    route: Route,
    plain: Sent,
    sent: readonly Sent[],
    allowedMicros: number,
  ): Promise<number | null> {
    let excess = Number.POSITIVE_INFINITY;
    // Whatever else runs in the process only adds: one cheap round shows that it is cheap.
    for (let round = 0; round < ROUNDS_MAX && excess > allowedMicros; round++) {
      const plainMicros = await this.#cost(
        route,
        sent.map(() => plain),
      );
      excess = Math.min(excess, (await this.#cost(route, sent)) - plainMicros - FIXED_MICROS);
    }
    return excess > allowedMicros ? excess : null;
  }

  /** Of one of these calls, in microseconds. They are made at once. */
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
        // From another address each time: what is counted by address must not end the measurement.
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

test("before the caller is known, no body costs more than twice its JSON.parse", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const routes = await listRoutes(meter.service.url);
  expect(routes.length).toBeGreaterThan(80);
  const expensive: string[] = [];
  for (const route of routes.filter(({ method }) => method !== "GET")) {
    const { isAnonymous, method, path } = route;
    const shapes = (isAnonymous ? [4_096, 65_536] : [65_536]).flatMap((bytes) =>
      hostileBodies(route.fields, bytes),
    );
    const plain = { body: "{}" };
    // Where a credential comes first no body is read: all of them together cost nothing.
    const all = shapes.map(({ text }) => ({ body: text }));
    if (!isAnonymous && (await meter.excessOf(route, plain, all, 0)) === null) continue;
    for (const { name, text } of shapes) {
      const allowed = isAnonymous ? 2 * (await meter.service.parseMicros(text)) : 0;
      const excess = await meter.excessOf(route, plain, times(CALLS, { body: text }), allowed);
      if (excess === null) continue;
      expensive.push(`${method} ${path}, ${text.length} bytes, ${name}: ${excess} µs, ${allowed} allowed`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);

/**
 * Those that fill the 16 KiB which Node takes of a request line and its headers. A trusted proxy appends the real sender to
 * the forwarders, whatever the sender claimed.
 */
const ROOM = 12_000;
const HEADS: readonly { readonly name: string; readonly sent: (route: Route) => Sent }[] = [
  { name: "many query parameters", sent: ({ path }) => ({ path: `${path}?${"a&".repeat(ROOM / 2)}` }) },
  {
    name: "one query parameter often",
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
    name: "blanks for a bearer token",
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
/** What decoding 12 kB by hand takes, some times over. */
const HEAD_MICROS = 1_500;

test("before the caller is known, no address, query or header costs much", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const expensive: string[] = [];
  for (const route of await listRoutes(meter.service.url)) {
    const all = HEADS.map(({ sent }) => sent(route));
    if ((await meter.excessOf(route, {}, all, HEAD_MICROS / HEADS.length)) === null) continue;
    for (const { name, sent } of HEADS) {
      const excess = await meter.excessOf(route, {}, times(CALLS, sent(route)), HEAD_MICROS);
      if (excess !== null) expensive.push(`${route.method} ${route.path}, ${name}: ${excess} µs`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);

/** Enough to send the largest document, 4 MB. Rendering it for each reader took ten times as long. */
const DOCUMENT_MICROS = 6_000;

test("before the caller is known, no document costs more than sending it", async () => {
  const { database } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const paths = ["/docs", "/docs/", "/docs/js/scalar.js", "/docs/openapi.json", "/docs/openapi.yaml"];
  const expensive: string[] = [];
  for (const path of [...paths, "/docs/errors", "/openapi/runtime.json", "/openapi/manage.json"]) {
    for (const method of ["GET", "HEAD"]) {
      const route = { method, path, fields: [], longLists: [], isAnonymous: true, isRuntime: false };
      const allowed = method === "HEAD" ? HEAD_MICROS : DOCUMENT_MICROS;
      const excess = await meter.excessOf(route, { path: "/livez" }, times(CALLS, {}), allowed);
      if (excess !== null) expensive.push(`${method} ${path}: ${excess} µs`);
    }
  }
  expect(expensive).toEqual([]);
}, 120_000);

/** For what a known caller may ask for: to have all of a body looked at, and to read what is wrong with it. */
const KNOWN_MICROS = 5_000;
const KNOWN_RATIO = 8;

test("a known caller's body costs a few times its JSON.parse at most", async () => {
  const { database, tokens, project } = await setupManage();
  const meter = new Meter(await startMeasuredService(database));
  const expensive: string[] = [];
  for (const route of await listRoutes(meter.service.url)) {
    if (route.isAnonymous || route.fields.length === 0) continue;
    const authorization = `Bearer ${route.isRuntime ? project.test.key.secret : tokens.owner}`;
    const path = route.path.replace("/projects/1/", `/projects/${project.projectId}/`);
    const plain = { path, body: "{}", headers: { authorization } };
    for (const { name, text } of [...hostileBodies(route.fields, 65_536), ...route.longLists]) {
      const allowed = KNOWN_MICROS + KNOWN_RATIO * (await meter.service.parseMicros(text));
      const excess = await meter.excessOf(route, plain, [{ ...plain, body: text }], allowed);
      if (excess !== null)
        expensive.push(`${route.method} ${route.path}, ${name}: ${excess} µs, ${allowed} allowed`);
    }
  }
  expect(expensive).toEqual([]);
}, 900_000);
