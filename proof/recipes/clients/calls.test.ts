import { describe, expect, test } from "vitest";
import { CUSTOMER, FEATURE, openChat } from "../chat.ts";
import { type LineState, startLineTo } from "../line.ts";
import { CLIENTS, readClient, runClient } from "./clients.ts";

const PROBLEM = { "content-type": "application/problem+json" };
const OVERLOADED: LineState = {
  status: 503,
  text: '{"code":"overloaded","detail":"Nothing was executed."}',
  headers: { ...PROBLEM, "retry-after": "1" },
};
const BAD_GATEWAY: LineState = {
  status: 502,
  text: "<h1>502</h1>",
  headers: { "content-type": "text/html" },
};

const charge = (key: string) =>
  JSON.stringify({ customerId: CUSTOMER, feature: FEATURE, quantity: 5, idempotencyKey: key });

test.each(CLIENTS)("%s has fewer than 80 lines", (client) => {
  expect(readClient(client).trimEnd().split("\n").length).toBeLessThan(80);
});

describe.each(CLIENTS)("%s", (client) => {
  test("can check, charge, and open, extend, settle and release a hold", async () => {
    const { env, readBooks } = await openChat(100);
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runClient(client, env, args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const who = JSON.stringify({ customerId: CUSTOMER });
    const part = (quantity: number) => JSON.stringify({ customerId: CUSTOMER, quantity });
    expect(await run("check", JSON.stringify({ customerId: CUSTOMER, feature: FEATURE }))).toMatchObject({
      allowed: true,
      balance: 100,
    });
    expect(await run("consume", charge("test:one"))).toMatchObject({ allowed: true, balance: 95 });
    const first = await run("hold", charge("test:two"));
    expect(await run("extend", first.holdId, part(20))).toMatchObject({ allowed: true, balance: 75 });
    expect(await run("settle", first.holdId, part(12))).toMatchObject({
      status: "settled",
      creditsCharged: 12,
    });
    const second = await run("hold", charge("test:three"));
    expect(await run("release", second.holdId, who)).toMatchObject({ status: "released" });
    const denied = JSON.stringify({ ...JSON.parse(charge("test:four")), quantity: 100 });
    expect(await run("consume", denied)).toMatchObject({ allowed: false, affordableQuantity: 83 });
    expect(await readBooks()).toMatchObject({
      balance: 83,
      charged: [5, 12],
      ended: ["settled", "released"],
    });
  });

  test("starts idempotency keys with the environment", async () => {
    const env = { PURSER_URL: "http://127.0.0.1:1", PURSER_KEY: "pur_live_abc" };
    const { stdout } = await runClient(client, env, ["key", "chat", "msg_5521", "2"]);
    expect(stdout.trim()).toBe("live:chat:msg_5521:2");
  });

  test("retries with the same body and charges the customer once", async () => {
    const { env, line, readBooks } = await openChat(100);
    line.next.push("cut", OVERLOADED, BAD_GATEWAY, "cut_after", "cut_within");
    const body = charge("test:job_1");
    const { code, stdout } = await runClient(client, env, ["consume", body]);
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      answer: { allowed: true, balance: 95 },
    });
    expect(line.seen.length).toBe(6);
    expect(new Set(line.seen.map((seen) => seen.body)).size).toBe(1);
    expect(JSON.parse(line.seen[0]?.body ?? "")).toEqual(JSON.parse(body));
    // The second response had `Retry-After: 1`.
    expect((line.seen[2]?.atMs ?? 0) - (line.seen[1]?.atMs ?? 0)).toBeGreaterThan(950);
    expect(await readBooks()).toMatchObject({ balance: 95, charged: [5] });
  });

  test("settles a hold once, even if the connection breaks after the settlement", async () => {
    const { env, line, readBooks } = await openChat(100);
    const { stdout } = await runClient(client, env, ["hold", charge("test:job_1")]);
    line.next.push("cut_after", "cut_after");
    const { holdId } = JSON.parse(stdout);
    const settled = await runClient(client, env, [
      "settle",
      holdId,
      `{"customerId":"${CUSTOMER}","quantity":3}`,
    ]);
    expect(JSON.parse(settled.stdout)).toMatchObject({ status: "settled", creditsCharged: 3 });
    expect(line.seen.length).toBe(4);
    expect(await readBooks()).toMatchObject({ balance: 97, charged: [3], ended: ["settled"] });
  });
});

// These tests wait, so all clients run concurrently.

test("after a timeout, each client retries, and the customer is charged once", async () => {
  const { env, service, readBooks } = await openChat(100);
  const runs = CLIENTS.map(async (client) => {
    const line = await startLineTo(service.url);
    line.next.push("silent_after");
    const { stdout } = await runClient(client, { ...env, PURSER_URL: line.url }, ["consume", charge(client)]);
    expect(JSON.parse(stdout)).toMatchObject({ allowed: true });
    expect((line.seen[1]?.atMs ?? 0) - (line.seen[0]?.atMs ?? 0)).toBeGreaterThan(2_500);
  });
  await Promise.all(runs);
  expect(await readBooks()).toMatchObject({ balance: 80, charged: [5, 5, 5, 5] });
});

test("when the deadline has passed, each client gives up with the last error", async () => {
  const { env, line, readBooks } = await openChat(100);
  line.state = OVERLOADED;
  const runs = CLIENTS.map(async (client) => {
    const started = performance.now();
    const { code, stdout, stderr } = await runClient(client, env, ["consume", charge(client)]);
    expect({ client, code, stdout }).toEqual({ client, code: 1, stdout: "" });
    expect(stderr).toContain("overloaded");
    expect(performance.now() - started).toBeLessThan(13_000);
    expect(line.seen.filter(({ body }) => JSON.parse(body).idempotencyKey === client).length).toBeGreaterThan(
      3,
    );
  });
  await Promise.all(runs);
  expect(await readBooks()).toMatchObject({ balance: 100, charged: [] });
});
