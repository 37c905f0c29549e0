import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { createDatabase } from "../../test/harness.ts";
import { startPgBouncer } from "../../test/pgbouncer.ts";
import { readConfig } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { POOLS } from "../pools.ts";
import { statement } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { doctorCommand } from "./doctor.ts";
import { refuseUnsafeDatabase } from "./serve.ts";

const LOG = openLog("silent");
const BODY = { customerId: "ada", feature: "image.render" };

test("PgBouncer in session mode works with its defaults, and all settings apply", async () => {
  const { database } = await startPgBouncer(await createDatabase(), "session");
  const lines: string[] = [];
  await refuseUnsafeDatabase(readConfig({ DATABASE_URL: database.serviceUrl }), LOG);
  expect(await doctorCommand({ databaseUrl: database.serviceUrl, print: (line) => lines.push(line) })).toBe(
    true,
  );
  expect(lines.join("\n")).toMatch(/ok +pooler: none, or in session mode/);
  const { cell, consume, check } = await setupCredits({ LANES: "1" }, undefined, database);
  const settings = statement(
    "test.settings",
    "select array_to_string(array(select current_setting(unnest($1::text[]))), ' ')",
  );
  const names = ["statement_timeout", "lock_timeout", "TimeZone", "synchronous_commit", "jit"];
  const { rows } = await transaction(cell, (tx) => tx.run(settings, [names]));
  expect(rows[0]?.[0]).toBe("4s 2s UTC on off");
  // On a busy machine, the first call may be rejected.
  await expect.poll(async () => (await check(BODY)).status).toBe(200);
  await expect.poll(async () => (await consume({ ...BODY, idempotencyKey: randomUUID() })).status).toBe(200);
  const replies = await Promise.all([
    ...Array.from({ length: 10 }, (_, i) => consume({ ...BODY, idempotencyKey: `k${i}` })),
    ...Array.from({ length: 10 }, () => check(BODY)),
  ]);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
});

test.each(["transaction", "statement"] as const)(
  "PgBouncer in %s mode is rejected by serve and reported by doctor",
  async (mode) => {
    const { database } = await startPgBouncer(await createDatabase(), mode);
    const start = refuseUnsafeDatabase(
      readConfig({ DATABASE_URL: database.serviceUrl, DATABASE_WAIT_SECONDS: "0" }),
      LOG,
    );
    await expect(start).rejects.toThrow(/pooler is running in transaction or statement mode/);
    const lines: string[] = [];
    const isHealthy = await doctorCommand({
      databaseUrl: database.serviceUrl,
      print: (line) => lines.push(line),
    });
    expect(isHealthy).toBe(false);
    expect(lines[0]).toMatch(/FAILURE pooler: connections are shared between transactions/);
  },
);

test("after a pooler switches to transaction mode, no request is acknowledged without the session settings", async () => {
  const pooler = await startPgBouncer(await createDatabase(), "session");
  const { database, consume, check } = await setupCredits({ LANES: "2" }, undefined, pooler.database);
  expect((await consume({ ...BODY, idempotencyKey: "before" })).status).toBe(200);
  await pooler.setMode("transaction");
  // Connections now share backends, so a connection can run on another connection's backend.
  const statuses = new Set<number>();
  for (let round = 0; round < 40 && !statuses.has(503); round++) {
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        i % 2 === 0 ? check(BODY) : consume({ ...BODY, idempotencyKey: `${round}-${i}` }),
      ),
    );
    for (const { status } of replies) statuses.add(status);
  }
  expect(statuses).toContain(503);
  const [ledger] = await database.query(
    "select count(*)::integer as charges from cell.ledger where kind = 2",
  );
  const [keys] = await database.query(
    "select count(*)::integer as kept from cell.keyed_requests where reason is null",
  );
  expect(ledger?.["charges"]).toBe(keys?.["kept"]);
});

test("the operations guide states how many connections a process opens", () => {
  const read = (page: string) =>
    readFileSync(new URL(`../../../docs/operations/${page}.md`, import.meta.url), "utf8");
  const sizing = read("sizing");
  const [, forLanes, forPools] = /`LANES` \+ (\d+) connections .* at most (\d+) more/.exec(sizing) ?? [];
  const pooled = Object.values(POOLS).reduce((sum, { sizeMax }) => sum + sizeMax, 0);
  // The 4 connections are for the blocking lane, the two lanes of batches, and the reader.
  expect([forLanes, forPools]).toEqual(["4", String(pooled)]);
  expect(sizing).toContain(`| at most ${1 + 4 + pooled} |`);
  expect(sizing).toContain(`| at most ${4 * (1 + 4 + pooled)} |`);
  const [, forEach] = /`default_pool_size` .* `LANES` \+ (\d+) for each process/.exec(read("poolers")) ?? [];
  expect(forEach).toBe(String(pooled + 4));
});
