import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { Resolve } from "./resolve.ts";
import { type SenderOptions, WebhookSender } from "./send.ts";
import { makeWebhookSecret } from "./sign.ts";
import { guardLookup } from "./target.ts";

const webhook = { id: "msg_1", timestamp: 1_800_000_000, body: "{}", secrets: [makeWebhookSecret()] };
const TIMEOUT_MS = 300;

async function listen(server: Server): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A server that sends raw text after each connection's first bytes. */
const raw = (answer: (socket: Socket) => void) =>
  listen(createServer((socket) => void socket.once("data", () => answer(socket))));

function makeSender(options: Partial<SenderOptions> = {}): WebhookSender {
  const sender = new WebhookSender({ allowPrivate: true, timeoutMs: 5_000, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

const resolving =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, callback) =>
    setImmediate(
      callback,
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );

test.each([
  "https://127.0.0.1",
  "https://[::ffff:7f00:1]",
  "https://2130706433",
  "http://example.com",
  "https://localhost",
])("%s is refused before a connection", async (origin) => {
  const { port, sockets } = await raw((socket) => socket.end());
  const answer = await makeSender({ allowPrivate: false }).send({ ...webhook, url: `${origin}:${port}/` });
  expect(answer).toMatchObject({ kind: "failed", reason: "refused_address" });
  expect(sockets).toEqual([]);
});

test("DNS that changes to a private address after a check does not lead to a connection", async () => {
  const { port, sockets } = await raw((socket) => socket.end());
  const url = `https://rebind.example:${port}/`;
  const answers = ["8.8.8.8", "127.0.0.1", "127.0.0.1"];
  const resolve: Resolve = (...args) => resolving(answers.shift() ?? "")(...args);
  const checked = new Promise((done) =>
    guardLookup({ allowPrivate: false }, resolve)("rebind.example", {}, (...result) => done(result)),
  );
  expect(await checked).toEqual([null, "8.8.8.8", 4]);
  const answer = await makeSender({ allowPrivate: false, resolve }).send({ ...webhook, url });
  expect(answer).toMatchObject({ kind: "failed", reason: "refused_address" });
  expect(answer).toMatchObject({ message: "The host name resolves to an address that is not public" });
  expect(sockets).toEqual([]);
  // The same answer leads to a connection if private addresses are allowed.
  await makeSender({ resolve }).send({ ...webhook, url });
  expect(sockets).toHaveLength(1);
});

test("a host with public and private addresses is refused", async () => {
  const { port, sockets } = await raw((socket) => socket.end());
  const sender = makeSender({ allowPrivate: false, resolve: resolving("127.0.0.1", "8.8.8.8") });
  const answer = await sender.send({ ...webhook, url: `https://mixed.example:${port}/` });
  expect(answer).toMatchObject({ kind: "failed", reason: "refused_address" });
  expect(sockets).toEqual([]);
});

test("an unknown host is a DNS failure, with a short message", async () => {
  const url = "https://missing.invalid/";
  const unknown = await makeSender().send({ ...webhook, url });
  expect(unknown).toMatchObject({
    reason: "dns",
    message: expect.stringMatching(/could not be resolved \(E/),
  });
  const resolve: Resolve = (_hostname, _options, callback) =>
    callback(Object.assign(new Error(), { code: `\0${"E".repeat(1_000)}` }), []);
  const broken = await makeSender({ resolve }).send({ ...webhook, url });
  expect(broken).toMatchObject({ reason: "dns", message: expect.stringMatching(/^[ -~]{300}$/) });
});

const HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** Writes `text` again and again, faster than the timeout. */
function trickle(socket: Socket, text: string, start = ""): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(text), TIMEOUT_MS / 10);
  socket.once("close", () => clearInterval(timer));
}

test.each<[string, (socket: Socket) => void]>([
  ["never answers", () => {}],
  ["never finishes its headers", (socket) => trickle(socket, "x: y\r\n", "HTTP/1.1 200 OK\r\n")],
  ["trickles its body", (socket) => trickle(socket, "1\r\nx\r\n", HEAD)],
  ["never ends its body", (socket) => socket.write(`${HEAD}2\r\nok\r\n`)],
  ["sends interim responses only", (socket) => trickle(socket, "HTTP/1.1 103 Early Hints\r\n\r\n")],
])("the timeout applies to a server that %s", async (_name, answer) => {
  const { port, sockets } = await raw(answer);
  const result = await makeSender({ timeoutMs: TIMEOUT_MS }).send({
    ...webhook,
    url: `http://127.0.0.1:${port}/`,
  });
  expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
  expect(result.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 10);
  expect(result.durationMs).toBeLessThan(5 * TIMEOUT_MS);
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
});

test("the timeout includes DNS and the TLS handshake", async () => {
  const { port } = await raw(() => {});
  const silent = makeSender({ timeoutMs: TIMEOUT_MS, resolve: () => {} });
  const url = `https://silent.example:${port}/`;
  expect(await silent.send({ ...webhook, url })).toMatchObject({ kind: "failed", reason: "timeout" });
  const handshake = makeSender({ timeoutMs: TIMEOUT_MS, resolve: resolving("127.0.0.1") });
  expect(await handshake.send({ ...webhook, url })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("the timeout includes the wait for a connection", async () => {
  const { port } = await raw(() => {});
  const sender = makeSender({ timeoutMs: TIMEOUT_MS });
  const url = `http://127.0.0.1:${port}/`;
  const answers = await Promise.all(Array.from({ length: 40 }, () => sender.send({ ...webhook, url })));
  for (const answer of answers) expect(answer).toMatchObject({ kind: "failed", reason: "timeout" });
  expect(Math.max(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(5 * TIMEOUT_MS);
});

const UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["closes the connection", (socket) => socket.end(), /ECONNRESET/],
  ["resets the connection", (socket) => socket.resetAndDestroy(), /ECONNRESET/],
  ["does not speak HTTP", (socket) => socket.end("220 mail.example ESMTP\r\n"), /HPE_INVALID_CONSTANT/],
  ["sends long headers", (socket) => socket.end(HEAD.trim() + "x".repeat(99_999)), /HPE_HEADER_OVERFLOW/],
  ["closes within the body", (socket) => socket.end(`${HEAD}5\r\nhalf`), /before the response was complete/],
  ["sends a malformed body", (socket) => socket.write(`${HEAD}x\r\n`), /HPE_INVALID_CHUNK_SIZE/],
  ["switches protocols", (socket) => socket.write(UPGRADE), /before the response was complete/],
])("a server that %s is a failed connection", async (_name, answer, message) => {
  const { port } = await raw(answer);
  const result = await makeSender().send({ ...webhook, url: `http://127.0.0.1:${port}/` });
  expect(result).toMatchObject({
    kind: "failed",
    reason: "connection",
    message: expect.stringMatching(message),
  });
  expect(result.durationMs).toBeLessThan(2_000);
});

test("send does not throw for a closed port or an invalid secret", async () => {
  const sender = makeSender();
  const refused = await sender.send({ ...webhook, url: "http://127.0.0.1:1/" });
  expect(refused).toMatchObject({ reason: "connection", message: "The connection failed (ECONNREFUSED)" });
  const url = "http://127.0.0.1:1/";
  for (const bug of [{ secrets: [] }, { id: "line\nbreak" }, { secrets: ["x".repeat(9_999)] }])
    expect(await sender.send({ ...webhook, url, ...bug })).toMatchObject({
      kind: "failed",
      reason: "connection",
    });
});

function makeCertificate(): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), "purser-webhooks-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const name = ["-subj", "/CN=purser", "-addext", "subjectAltName=DNS:hooks.example"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...name, "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

test("TLS needs a trusted certificate for the host", async () => {
  const files = makeCertificate();
  const requests: Socket[] = [];
  const server = createHttpsServer(files, ({ socket }, response) => {
    const isSecond = requests.includes(socket);
    requests.push(socket);
    if (isSecond) socket.destroy();
    else response.end("ok");
  });
  const { port } = await listen(server);
  const resolve = resolving("127.0.0.1");
  const url = `https://hooks.example:${port}/`;
  expect(await makeSender({ resolve }).send({ ...webhook, url })).toMatchObject({
    kind: "failed",
    reason: "tls",
    message: "The TLS connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)",
  });
  expect(requests).toHaveLength(0);

  const trusted = getCACertificates("default");
  onTestFinished(() => setDefaultCACertificates(trusted));
  setDefaultCACertificates([...trusted, files.cert]);
  const sender = makeSender({ resolve });
  const other = await sender.send({ ...webhook, url: `https://other.example:${port}/` });
  expect(other).toMatchObject({
    reason: "tls",
    message: "The TLS connection failed (ERR_TLS_CERT_ALTNAME_INVALID)",
  });
  expect(await sender.send({ ...webhook, url })).toMatchObject({ status: 200, text: "ok" });
  // The server closes the idle connection at the second request, which is then sent on a new one.
  expect(await sender.send({ ...webhook, url })).toMatchObject({ status: 200, text: "ok" });
  expect(requests).toHaveLength(3);
});

test("a server without TLS is a TLS failure", async () => {
  const { port } = await raw((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const sender = makeSender({ resolve: resolving("127.0.0.1") });
  const answer = await sender.send({ ...webhook, url: `https://plain.example:${port}/` });
  expect(answer).toMatchObject({ kind: "failed", reason: "tls" });
});

test("close ends the attempts in progress, and nothing is sent afterwards", async () => {
  let requests = 0;
  const { port, sockets } = await raw(() => {
    requests += 1;
  });
  const sender = makeSender();
  const url = `http://127.0.0.1:${port}/`;
  const running = Array.from({ length: 40 }, () => sender.send({ ...webhook, url }));
  await expect.poll(() => requests).toBe(40);
  sender.close();
  const closed = { kind: "failed", reason: "connection", message: "The sender was closed" };
  for (const answer of await Promise.all(running)) expect(answer).toMatchObject(closed);
  expect(await sender.send({ ...webhook, url })).toMatchObject(closed);
  await expect.poll(() => sockets.slice(0, 40).every((socket) => socket.destroyed)).toBe(true);
  expect(requests).toBe(40);
});

test("close closes idle connections", async () => {
  const { port, sockets } = await raw((socket) => socket.write(`${HEAD}0\r\n\r\n`));
  const sender = makeSender();
  expect(await sender.send({ ...webhook, url: `http://127.0.0.1:${port}/` })).toMatchObject({ status: 200 });
  expect(sockets[0]?.destroyed).toBe(false);
  sender.close();
  await expect.poll(() => sockets[0]?.destroyed, { timeout: 2_000 }).toBe(true);
});
