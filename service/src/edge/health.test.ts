import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDatabase, createTestProject, post } from "../../test/harness.ts";
import { servePurser } from "../../test/purser.ts";
import { Wire } from "../../test/wire.ts";

const LIMIT_SECONDS = 3;
const WITH_DATABASE = `/readyz?database=${LIMIT_SECONDS}`;
const WITHIN = { timeout: 30_000, interval: 100 };

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status;
}

test("only a replica that cannot reach the database leaves rotation, and it returns after the outage", {
  timeout: 180_000,
}, async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const wire = await Wire.open();
  const isolated = await servePurser(wire.urlOf(database));
  const other = await servePurser(database.serviceUrl);
  const record = async (url: string): Promise<number> => {
    const body = { customerId: "c", event: "e", quantity: 1 };
    return (await post(`${url}/v1/events`, project.test.key.secret, body)).status;
  };
  for (const wrong of ["", "0", "-1", "1.5", "ten", "10000"])
    expect(await statusOf(`${isolated.metricsUrl}/readyz?database=${wrong}`)).toBe(400);
  // A replica stays ready without calls from clients.
  await pause(LIMIT_SECONDS * 1_000 + 500);
  await expect.poll(() => statusOf(`${isolated.url}${WITH_DATABASE}`), WITHIN).toBe(200);
  await expect.poll(() => statusOf(`${isolated.metricsUrl}${WITH_DATABASE}`), WITHIN).toBe(200);

  const faults = [
    { begin: () => wire.cut({ refusing: true }), end: () => wire.mend() },
    // The network is silent: connections stay open, but nothing arrives.
    { begin: () => wire.hold(), end: () => wire.release() },
  ];
  for (const { begin, end } of faults) {
    begin();
    await expect.poll(() => statusOf(`${isolated.url}${WITH_DATABASE}`), WITHIN).toBe(503);
    expect(await statusOf(`${isolated.metricsUrl}${WITH_DATABASE}`)).toBe(503);
    const reply = await fetch(`${isolated.url}${WITH_DATABASE}`);
    expect(await reply.text()).toMatch(/^no response from the database for \d+ s\n$/);
    // Without `?database`, the replica stays ready. It also stays live, so it is not restarted.
    expect(await statusOf(`${isolated.url}/readyz`)).toBe(200);
    expect(await statusOf(`${isolated.url}/livez`)).toBe(200);
    expect(await record(isolated.url)).toBe(503);
    await expect.poll(() => statusOf(`${other.url}${WITH_DATABASE}`), WITHIN).toBe(200);
    await expect.poll(() => record(other.url), WITHIN).toBe(200);
    end();
    await expect.poll(() => statusOf(`${isolated.url}${WITH_DATABASE}`), WITHIN).toBe(200);
    await expect.poll(() => record(isolated.url), WITHIN).toBe(200);
  }
});
