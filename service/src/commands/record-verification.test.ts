import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { withJobClock } from "../../test/job-clock.ts";
import { runPurser } from "../../test/purser.ts";

test("the metrics of a running service include the result of purser verify", async () => {
  const { database, service, consume, pass } = await withJobClock(() => setupCredits());
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  const verify = (...options: string[]) =>
    runPurser(["verify", ...options], { DATABASE_URL: database.serviceUrl });
  const metrics = async () => (await fetch(`${service.metricsUrl}/metrics`)).text();
  // A service reads the results every 10 s.
  const passInterval = () => pass(10_000);
  expect(await metrics()).not.toContain("purser_verify_sound{");
  expect((await verify()).code).toBe(0);
  expect((await verify("--usage")).code).toBe(0);
  passInterval();
  await expect.poll(metrics).toMatch(/^purser_verify_sound\{kind="ledger"\} 1$/m);
  await expect.poll(metrics).toMatch(/^purser_verify_sound\{kind="usage"\} 1$/m);
  const time = Number(/^purser_verify_timestamp_seconds\{kind="ledger"\} (\S+)$/m.exec(await metrics())?.[1]);
  expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(60);

  await database.query("update cell.wallets set balance = balance + 1");
  expect((await verify()).code).toBe(1);
  passInterval();
  await expect.poll(metrics).toMatch(/^purser_verify_sound\{kind="ledger"\} 0$/m);
  expect(await metrics()).toMatch(/^purser_verify_sound\{kind="usage"\} 1$/m);
});

test("a read-only role can verify, and the command reports that the result was not stored", async () => {
  const { database } = await setupCredits();
  const role = `reader_${database.url.split("_").at(-1)}`;
  await database.query(`create role ${role} login`);
  await database.query(`grant usage on schema control, cell to ${role}`);
  await database.query(`grant select on all tables in schema control, cell to ${role}`);
  const url = database.url.replace("//postgres@", `//${role}@`);
  const { code, stdout } = await runPurser(["verify"], { DATABASE_URL: url });
  await database.query(`drop owned by ${role}`);
  await database.query(`drop role ${role}`);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("is not allowed to store the result"),
  });
});

test("a verification that passed but could not be stored reports both", async () => {
  const { database } = await setupCredits();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("begin; lock table cell.verifications");
  const { code, stdout, stderr } = await runPurser(["verify"], { DATABASE_URL: database.url });
  expect(code).toBe(1);
  expect(stdout).toContain("Every wallet matches its ledger.");
  expect(stderr).toContain(
    "the verification passed, but its result was not stored, so /metrics does not show it",
  );
});

test("verification works on a system that forbids changing the process priority", async () => {
  const { database } = await setupCredits();
  // Simulates a systemd system call filter.
  const forbid = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module";
    os.setPriority = () => { throw new Error("EPERM"); }; syncBuiltinESMExports();`;
  const { code, stdout } = await runPurser(["verify"], {
    DATABASE_URL: database.serviceUrl,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(forbid)}`,
  });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("Every wallet matches its ledger."),
  });
});
