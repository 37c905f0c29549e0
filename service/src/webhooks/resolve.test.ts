import { createSocket } from "node:dgram";
import { type LookupAddress, lookup } from "node:dns";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { lookUpInTurn, type Resolve, resolvePublic } from "./resolve.ts";

const ask = (resolve: Resolve, hostname: string): Promise<LookupAddress[]> =>
  new Promise((done, fail) => {
    resolve(hostname, { all: true }, (error, addresses) => (error === null ? done(addresses) : fail(error)));
  });

/** A DNS server with one IPv4 address for each name. Null answers nothing. */
async function startDns(address: readonly number[] | null): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port }) => {
    if (address === null) return;
    const isA = query.readUInt16BE(query.indexOf(0, 12) + 1) === 1;
    const response = Buffer.from(query.subarray(0, query.indexOf(0, 12) + 5));
    response.writeUInt16BE(0x8180, 2);
    response.writeUInt16BE(isA ? 1 : 0, 6);
    response.writeUInt16BE(0, 8);
    response.writeUInt16BE(0, 10);
    const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address];
    socket.send(isA ? Buffer.concat([response, Buffer.from(record)]) : response, port, "127.0.0.1");
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test("the addresses of a public name come from the DNS servers", async () => {
  const resolve = resolvePublic([await startDns([93, 184, 216, 34])]);
  expect(await ask(resolve, "hooks.example.com")).toEqual([{ address: "93.184.216.34", family: 4 }]);
});

test("a DNS server that does not answer fails the lookup, and delays no other lookup of the process", async () => {
  const resolve = resolvePublic([await startDns(null)]);
  const asked = Array.from({ length: 32 }, () =>
    ask(resolve, "hooks.example.com").catch((error) => error.code),
  );
  const startedAt = performance.now();
  await promisify(lookup)("localhost");
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["ETIMEOUT"]));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test("lookups of the operating system take turns, and lookups of the same name share one", async () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const resolve = lookUpInTurn((hostname, _, callback) => {
    asked.push(hostname);
    waiting.push(() => callback(null, [{ address: "10.0.0.1", family: 4 }]));
  });
  const answers = ["a", "b", "a"].map((hostname) => ask(resolve, hostname));
  await expect.poll(() => asked).toEqual(["a"]);
  waiting.shift()?.();
  await expect.poll(() => asked).toEqual(["a", "b"]);
  waiting.shift()?.();
  expect(await Promise.all(answers)).toHaveLength(3);
  const again = ask(resolve, "a");
  await expect.poll(() => asked).toEqual(["a", "b", "a"]);
  waiting.shift()?.();
  expect(await again).toEqual([{ address: "10.0.0.1", family: 4 }]);
});
