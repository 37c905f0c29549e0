import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { VERSION } from "../primitives/version.ts";
import { type Answer, isDelivered, WebhookSender } from "./send.ts";
import { makeWebhookSecret } from "./sign.ts";

const run = promisify(execFile);
const webhook = {
  id: "msg_1",
  timestamp: Math.floor(Date.now() / 1_000),
  body: '{"name":"Zoë"}',
  secrets: [makeWebhookSecret()],
};

/** Starts an endpoint on loopback, and a sender that may reach it. */
async function setup(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const sender = new WebhookSender({ allowPrivate: true, timeoutMs: 5_000 });
  onTestFinished(() => {
    sender.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook?tenant=1`;
  return { url, sockets, send: (change = {}) => sender.send({ ...webhook, url, ...change }) };
}

async function read(incoming: IncomingMessage): Promise<string> {
  return Buffer.concat(await incoming.toArray()).toString();
}

test("an endpoint receives a signed POST request over HTTP/1.1", async () => {
  const received: { request: IncomingMessage; body: string }[] = [];
  const { url, send } = await setup(async (request, response) => {
    received.push({ request, body: await read(request) });
    response.end("thanks");
  });
  const answer = await send();
  expect(answer).toEqual({ kind: "answered", status: 200, text: "thanks", durationMs: expect.any(Number) });
  const [{ request, body } = expect.fail("nothing received")] = received;
  expect(request).toMatchObject({ method: "POST", url: "/hook?tenant=1", httpVersion: "1.1" });
  expect(request.headers).toEqual({
    host: new URL(url).host,
    connection: "keep-alive",
    "content-type": "application/json",
    "content-length": "15",
    "user-agent": `Purser/${VERSION}`,
    "webhook-id": "msg_1",
    "webhook-timestamp": String(webhook.timestamp),
    "webhook-signature": expect.stringMatching(/^v1,/),
  });
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [name, values.join()]),
  );
  const [secret = ""] = webhook.secrets;
  expect(new Webhook(secret).verify(body, headers)).toEqual({ name: "Zoë" });
});

test.each([
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [304, false],
  [404, false],
  [410, false],
  [500, false],
])("status %d means delivered: %s", async (status, delivered) => {
  const { send } = await setup((_request, response) => void response.writeHead(status).end());
  const answer = await send();
  expect(answer).toMatchObject({ kind: "answered", status });
  expect(isDelivered(answer)).toBe(delivered);
});

test.each([301, 302, 303, 307, 308])("a redirect with status %d is not followed", async (status) => {
  const paths: (string | undefined)[] = [];
  const { url, send } = await setup((request, response) => {
    paths.push(request.url);
    response.writeHead(status, { location: new URL("/other", url).href }).end("moved");
  });
  expect(await send()).toMatchObject({ kind: "answered", status, text: "moved" });
  expect(paths).toEqual(["/hook?tenant=1"]);
});

test.each([
  ["a long text", "x".repeat(1_001), "x".repeat(1_000)],
  ["three-byte characters", "€".repeat(3_000), "€".repeat(1_000)],
  ["four-byte characters", `x${"😀".repeat(2_000)}`, `x${"😀".repeat(499)}\ufffd`],
  ["control characters", "a\u0000b\r\n\tc\u001b[31md\u0085\u007f", "ab\n\tc[31md"],
  ["invalid UTF-8", Buffer.from([0x61, 0xff, 0x62, 0xed, 0xa0, 0x80]), `a\ufffdb${"\ufffd".repeat(3)}`],
  ["a cut-off character", Buffer.from("a€").subarray(0, 3), "a"],
  ["an empty body", "", ""],
])("at most 1,000 printable characters of a body are kept: %s", async (_name, body, text) => {
  const { send } = await setup((_request, response) => void response.end(body));
  expect(await send()).toMatchObject({ status: 200, text });
});

test("a compressed body is not decompressed", async () => {
  const { send } = await setup((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(500)));
  });
  const answer = await send();
  expect(answer).toMatchObject({ kind: "answered", text: expect.not.stringContaining("xx") });
});

test("reading stops after 64 KiB, even if the body never ends", async () => {
  let written = 0;
  const { sockets, send } = await setup((_request, response) => {
    const write = () => {
      while (!response.destroyed && written < 1e9 && response.write("y".repeat(16_384))) written += 16_384;
    };
    response.on("drain", write);
    write();
  });
  expect(await send()).toMatchObject({ kind: "answered", status: 200, text: "y".repeat(1_000) });
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  expect(written).toBeLessThan(50e6);
});

test("connections are reused", async () => {
  const { sockets, send } = await setup((_request, response) => void response.end("ok"));
  for (let i = 0; i < 20; i++) expect(await send()).toMatchObject({ status: 200 });
  expect(sockets).toHaveLength(1);
});

/** An endpoint that resets each connection at its second request. */
const resetting =
  (requests: Socket[]): RequestListener =>
  (request, response) => {
    const isSecond = requests.includes(request.socket);
    requests.push(request.socket);
    if (isSecond) request.socket.resetAndDestroy();
    else response.end("ok");
  };

test("if the server closed an idle connection, the webhook is sent once more on a new one", async () => {
  const requests: Socket[] = [];
  const { sockets, send } = await setup(resetting(requests));
  // Two idle connections, of which the second attempt must use neither.
  await Promise.all([send(), send()]);
  expect(sockets).toHaveLength(2);
  expect(await send()).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  expect(requests).toHaveLength(4);
  expect(sockets).toHaveLength(3);
});

test("a server that closes new connections gets one request only", async () => {
  let requests = 0;
  const { send } = await setup((request) => {
    requests += 1;
    request.socket.destroy();
  });
  expect(await send()).toMatchObject({ kind: "failed", reason: "connection" });
  expect(requests).toBe(1);
});

test("after the first byte of a response, a failed request is not repeated", async () => {
  let requests = 0;
  const { send } = await setup((request, response) => {
    requests += 1;
    if (requests === 1) response.end("ok");
    else request.socket.write("HTTP/1.1 2", () => request.socket.destroy());
  });
  await send();
  expect(await send()).toMatchObject({ kind: "failed", reason: "connection" });
  expect(requests).toBe(2);
});

test("errors after the answer have no effect", async () => {
  const { sockets, send } = await setup((_request, response) => void response.end("ok"));
  expect(await send()).toMatchObject({ status: 200 });
  sockets[0]?.write("garbage");
  sockets[0]?.resetAndDestroy();
  expect(await send()).toMatchObject({ status: 200 });
  expect(sockets).toHaveLength(2);
});

test("proxy settings of the environment are ignored", async () => {
  const paths: (string | undefined)[] = [];
  const { url } = await setup((request, response) => {
    paths.push(request.url);
    response.end("direct");
  });
  const script = `
    import { WebhookSender } from ${JSON.stringify(join(import.meta.dirname, "send.ts"))};
    const sender = new WebhookSender({ allowPrivate: true });
    console.log(JSON.stringify(await sender.send(${JSON.stringify({ ...webhook, url })})));`;
  // A proxy that is not there.
  const proxy = "http://127.0.0.1:1";
  const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { env });
  const answer: Answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ kind: "answered", text: "direct" });
  expect(paths).toEqual(["/hook?tenant=1"]);
});
