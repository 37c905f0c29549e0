import { once } from "node:events";
import { connect, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { post, setup } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../primitives/brand.ts";
import type { ApiKey } from "../store/control/api-keys.ts";
import { RejectionThrottle } from "./rejection-throttle.ts";

const LOG_IN = "/manage/v1/session";
const BURST = 200;
const PER_SECOND = 50;
const KEY: ApiKey = {
  id: 1,
  projectId: brandAs<ProjectId>(1),
  environmentId: brandAs<EnvironmentId>(1),
  environmentKind: "test",
  cell: "default",
  scopes: new Set(),
  metadataLimits: { bytesMax: 1, keysMax: 1, depthMax: 1 },
  historyDaysMax: null,
  requestsPerSecondMax: null,
  expiresInMs: null,
};

test("rejections are delayed for a network that gets many, but never for valid callers", async () => {
  const throttle = new RejectionThrottle();
  const refuse = (ip: string, nowMs: number, apiKey: ApiKey | null = null): Promise<void> =>
    throttle.hold({ apiKey, principal: null, ip, raw: { socket: new Socket() } }, nowMs);
  const isHeld = async (held: Promise<void>): Promise<boolean> =>
    (await Promise.race([held, nextTurn("held")])) === "held";

  for (let i = 0; i < BURST; i++) expect(await isHeld(refuse(`2001:db8::${i.toString(16)}`, 0))).toBe(false);
  const sinceMs = performance.now();
  const held = refuse("2001:db8::ffff", 0);
  expect(await isHeld(held)).toBe(true);
  expect(await isHeld(refuse("2001:db8::ffff", 0, KEY))).toBe(false);
  expect(await isHeld(refuse("2001:db8:0:1::1", 0))).toBe(false);
  await held;
  expect(performance.now() - sinceMs).toBeGreaterThan(900);

  for (let i = 0; i < PER_SECOND; i++) expect(await isHeld(refuse("2001:db8::1", 1_000))).toBe(false);
  expect(await isHeld(refuse("2001:db8::1", 1_000))).toBe(true);
});

test("a client that does not wait for rejections is disconnected", async () => {
  const { service } = await setup();
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const attempt = "GET /no/such/path HTTP/1.1\r\nhost: a\r\n\r\n";
  socket.on("error", () => {});
  socket.resume().write(attempt.repeat(BURST * 3));
  await once(socket, "close");
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
});

test("rejected requests from members and tokens are not delayed", async () => {
  const { service, tokens } = await setupManage();
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const attempt = `GET /manage/v1/projects/999/test/customers HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${tokens.viewer}\r\n\r\n`;
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
  });
  // Sent in groups, because hundreds of concurrent requests would wait too long for a database connection.
  const group = BURST / 4;
  for (let sent = group; sent <= BURST * 3; sent += group) {
    socket.write(attempt.repeat(group));
    await expect.poll(() => text.split("HTTP/1.1 404").length - 1).toBe(sent);
  }
  socket.destroy();
});

test("malformed logins count toward the limit on logins from their network only", async () => {
  const { service } = await setup({ TRUST_PROXY: "127.0.0.1" });
  const logIn = async (body: unknown, address: string): Promise<number> =>
    (await post(`${service.url}${LOG_IN}`, null, body, { "x-forwarded-for": address })).status;
  const bodies = ['{"email":[1]}', "{", '{"email":"a","email":"b"}', `"${"a".repeat(5_000)}"`];
  const statuses: number[] = [];
  for (let i = 0; i < 100; i++) statuses.push(await logIn(bodies[i % bodies.length], "203.0.113.7"));
  expect(new Set(statuses)).toEqual(new Set([400, 413, 429]));
  const stranger = { email: "nobody@example.com", password: "a wrong password" };
  expect(await logIn(stranger, "203.0.113.7")).toBe(429);
  expect(await logIn(stranger, "203.0.113.8")).toBe(401);
});
