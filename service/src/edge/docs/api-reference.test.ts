import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { setup } from "../../../test/harness.ts";

const SCRIPT = "/docs/api/js/scalar.js";

function open(url: string, head: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.write(`${head}\r\n\r\n`);
  return socket;
}

test("the API reference's script returns 304 to a browser that has cached it", async () => {
  const { service } = await setup();
  const first = await fetch(`${service.url}${SCRIPT}`);
  const etag = first.headers.get("etag") ?? "";
  expect(first.headers.get("content-type")).toBe("application/javascript; charset=utf-8");
  expect(first.headers.get("cache-control")).toBe("no-cache");
  expect((await first.arrayBuffer()).byteLength).toBe(Number(first.headers.get("content-length")));
  const again = await fetch(`${service.url}${SCRIPT}`, { headers: { "if-none-match": etag } });
  expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0]);
  const head = await fetch(`${service.url}${SCRIPT}`, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe(first.headers.get("content-length"));
});

test("a client that requests the API reference's script but does not read it is disconnected", async () => {
  const { service } = await setup();
  const length = Number((await fetch(`${service.url}${SCRIPT}`)).headers.get("content-length"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = open(service.url, `GET ${SCRIPT} HTTP/1.1\r\nhost: a`);
  await once(socket, "readable");
  vi.advanceTimersByTime(180_000);
  let bytes = 0;
  socket
    .on("error", () => {})
    .on("data", (data) => {
      bytes += data.length;
    });
  await once(socket, "close");
  expect(bytes).toBeLessThan(length);
});

test("the API reference is served for any Host header", async () => {
  const { service } = await setup();
  for (const [path, status] of [
    ["/docs/api/", "200"],
    ["/docs/api", "301"],
  ]) {
    const socket = open(service.url, `GET ${path} HTTP/1.1\r\nhost: %\r\nconnection: close`);
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString("latin1")).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  }
});
