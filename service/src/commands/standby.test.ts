import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { startOwnServer, startStandby } from "../../test/own-server.ts";
import { Wire } from "../../test/wire.ts";
import { readConfig } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { doctorCommand } from "./doctor.ts";
import { refuseUnsafeDatabase } from "./serve.ts";

const LOG = openLog("silent");
const BODY = { customerId: "ada", feature: "image.render" };

test("a standby is rejected by lanes, reader, pools, doctor and serve, and serve can wait until the standby is promoted", async () => {
  const primary = await startOwnServer();
  const standby = await startStandby(primary, "replica");
  const wire = await Wire.open();
  wire.target = primary.port;
  const { check, consume } = await setupCredits({ LANES: "1" }, undefined, {
    ...primary.database,
    serviceUrl: wire.urlOf(primary.database),
  });
  await expect.poll(async () => (await check(BODY)).status).toBe(200);
  await expect
    .poll(() => standby.database.count("cell.customers").catch(() => 0), { timeout: 30_000 })
    .toBe(1);

  // Points the proxy at the standby. Existing connections break, and new connections reach the standby.
  wire.target = standby.server.port;
  wire.cut();
  const refused = await Promise.all([
    ...Array.from({ length: 5 }, () => check(BODY)),
    consume({ ...BODY, idempotencyKey: "on-standby" }),
  ]);
  for (const reply of refused) expect(reply).toMatchObject({ status: 503, body: { code: "unavailable" } });
  wire.target = primary.port;
  await expect.poll(async () => (await check(BODY)).status).toBe(200);
  await expect.poll(async () => (await consume({ ...BODY, idempotencyKey: "after" })).status).toBe(200);

  const sentence = /the server is a standby, in recovery and read-only: Purser needs the primary/;
  const databaseUrl = standby.database.serviceUrl;
  await expect(doctorCommand({ databaseUrl, print: () => {} })).rejects.toThrow(sentence);
  const start = (seconds: string) =>
    refuseUnsafeDatabase(readConfig({ DATABASE_URL: databaseUrl, DATABASE_WAIT_SECONDS: seconds }), LOG);
  await expect(start("0")).rejects.toThrow(sentence);
  const waiting = start("60");
  await standby.database.query("select pg_promote()");
  await waiting;
}, 120_000);

test.each([
  ["several hosts", "postgres://u@one:5432,two:5432/purser", /must contain exactly one host/],
  ["several hosts by name", "postgres://u:p%40@one,two/purser", /must contain exactly one host/],
  ["a list in its query", "postgres://u@/purser?host=one,two", /must contain exactly one host/],
  ["target_session_attrs", "postgres://u@one/purser?target_session_attrs=read-write", /target_session_attrs/],
])("a URL with %s is rejected with a message, because the driver would misread it", (_, url, sentence) => {
  expect(() => readConfig({ DATABASE_URL: url })).toThrow(sentence);
});
