import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { trustProxies } from "./guard.ts";

const run = promisify(execFile);
const EVENT = { customerId: "c", event: "e", quantity: 1 };

const isMissing = (command: string): boolean => spawnSync(command, ["--version"]).status !== 0;

test.each([
  ["Origin", { origin: "https://app.example" }],
  ["an opaque Origin", { origin: "null" }],
  ["an empty Origin", { origin: "" }],
  ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
  ["Sec-Fetch-Site: same-origin", { "sec-fetch-site": "same-origin" }],
])("a request with %s is rejected as a browser's request, and nothing is stored", async (_, headers) => {
  const { database, record } = await setup();
  const reply = await record(EVENT, headers);
  expect([reply.status, reply.body["code"]]).toEqual([403, "browser_not_allowed"]);
  expect(await database.count("cell.events")).toBe(0);
});

test("a browser is rejected before its key is checked, and gets no CORS header", async () => {
  const { service } = await setup();
  for (const method of ["POST", "OPTIONS"]) {
    const reply = await fetch(`${service.url}/v1/events`, {
      method,
      headers: { "sec-fetch-site": "cross-site", "access-control-request-method": "POST" },
    });
    expect(reply.status).toBe(403);
    expect([...reply.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("a request with only Sec-Fetch-Mode is accepted, because Node's fetch sends that header", async () => {
  const { record } = await setup();
  expect((await record(EVENT)).status).toBe(200);
  expect((await record(EVENT, { "sec-fetch-mode": "cors" })).status).toBe(200);
});

test.skipIf(isMissing("curl"))("requests from curl are accepted", async () => {
  const { service, project } = await setup();
  const { stdout } = await run("curl", [
    ...["-s", "-w", "%{http_code}", "-H", `authorization: Bearer ${project.test.key.secret}`],
    ...["-H", "content-type: application/json", "-d", JSON.stringify(EVENT), `${service.url}/v1/events`],
  ]);
  expect(stdout).toMatch(/^\{"accepted":true,"eventId":"evt_\w{26}"\}200$/);
});

const PYTHON = `
import sys, urllib.request
url, key, body = sys.argv[1:]
headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers)) as reply:
    print(reply.status)
`;

test.skipIf(isMissing("python3"))("requests from Python's urllib are accepted", async () => {
  const { service, project } = await setup();
  const url = `${service.url}/v1/events`;
  const args = ["-c", PYTHON, url, project.test.key.secret, JSON.stringify(EVENT)];
  expect((await run("python3", args)).stdout.trim()).toBe("200");
});

test.each([
  ["http", [403, "tls_required"]],
  ["HTTP", [403, "tls_required"]],
  ["https, http", [403, "tls_required"]],
  ["https", [200, undefined]],
  ["http, https", [200, undefined]],
])(
  "behind a trusted proxy, X-Forwarded-Proto: %s decides whether the request is accepted",
  async (proto, expected) => {
    const { database, record } = await setup({ TRUST_PROXY: "10.0.0.0/8, 127.0.0.1" });
    const reply = await record(EVENT, { "x-forwarded-proto": proto });
    expect([reply.status, reply.body["code"]]).toEqual(expected);
    expect(await database.count("cell.events")).toBe(reply.status === 200 ? 1 : 0);
  },
);

test.each([{}, { TRUST_PROXY: "10.0.0.0/8" }])(
  "without a trusted proxy, X-Forwarded-Proto is ignored (%o)",
  async (overrides) => {
    const { record } = await setup(overrides);
    expect((await record(EVENT, { "x-forwarded-proto": "http" })).status).toBe(200);
  },
);

test.each([
  ["10.1.2.3", true],
  ["::ffff:10.1.2.3", true],
  ["11.1.2.3", false],
  ["192.168.0.7", true],
  ["192.168.0.8", false],
  ["fd00::1", true],
  ["fe80::1", false],
  ["2001:db8::5", true],
  [undefined, false],
])(
  "with 10.0.0.0/8, 192.168.0.7, fd00::/8 and 2001:db8::5 trusted, %s is trusted: %s",
  (address, expected) => {
    const isTrusted = trustProxies(["10.0.0.0/8", "192.168.0.7", "fd00::/8", "2001:db8::5"]);
    expect(isTrusted(address)).toBe(expected);
  },
);
