import { expect, onTestFinished, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { settle } from "../../../test/usage.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import { readSettled } from "../../store/cell/export-range.ts";
import { eventSource } from "./event-source.ts";
import type { ExportJob } from "./source.ts";

/** Inserts $1 events. They were recorded $2 after the first event, but not before its month, and occurred $3 after it. */
const MANY = `insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id)
  select greatest(e.recorded_at + $2::interval, date_trunc('month', e.recorded_at, 'UTC')), gen_random_uuid(), e.recorded_at + $3::interval, e.customer_number, e.environment_id, 1, 'later', ''
  from cell.events as e
  cross join generate_series(1, $1)
  where e.event = 'first'`;

async function setupJob(before = 0) {
  const managed = await setupManage();
  const { database, project, record, service } = managed;
  await record({ customerId: "ada", event: "first", quantity: 1 });
  // Most rows are inserted here, so that the planner prefers no other index.
  if (before > 0) await database.query(MANY, [before, "-1 hour", "-1 hour"]);
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  const settled = await single(cell, readSettled);
  const job: ExportJob = {
    cell,
    projectId: project.projectId,
    environmentId: project.test.environmentId,
    from: brandAs<Instant>(0),
    to: brandAs<Instant>(TIME_MAX),
    asOf: brandAs<Instant>(Date.now()),
    settled,
    windowStart: null,
    about: "",
  };
  /** Counts the scanned rows. Statistics are reported late, so connections flush them first. */
  const walked = async (): Promise<number> => {
    const flush = "select pg_stat_force_next_flush()";
    await single(cell, (tx) => tx.run({ name: "", text: flush }));
    await single(cell, (tx) => tx.run({ name: "", text: "select 1" }));
    await database.query(flush);
    await database.query("select 1");
    const [row] = await database.query(
      "select sum(seq_tup_read + idx_tup_fetch)::integer as n from pg_stat_user_tables where relname like 'events_2%'",
    );
    return Number(row?.["n"]);
  };
  return { database, job, walked, service };
}

test("an export without an end does not scan events recorded after its start", async () => {
  const { database, job, walked, service } = await setupJob(10_000);
  await service.stop();
  await expect
    .poll(() =>
      database.count("pg_stat_activity", "datname = current_database() and application_name like 'purser%'"),
    )
    .toBe(0);
  await database.query(MANY, [5_000, "10 minutes", "10 minutes"]);
  await database.query("analyze cell.events");
  // The roll-up job reads all new events once.
  await settle({ cell: job.cell, database });
  const before = await walked();
  const pages = await Array.fromAsync(
    eventSource.pages({ ...job, from: brandAs<Instant>(job.asOf - 600_000) }, null),
  );
  expect(pages.flat().map(({ row }) => row.event)).toEqual(["first"]);
  expect((await walked()) - before).toBeLessThan(100);
});

test("an export with many late events scans at most one page of them per statement", async () => {
  const { database, job } = await setupJob();
  await database.query(MANY, [1_700, "1 second", "-1 hour"]);
  const pages = await Array.fromAsync(eventSource.pages(job, null));
  expect(pages.map((page) => page.length)).toEqual([0, 0, 0, 1]);
  expect(pages.flat().map(({ row }) => row.event)).toEqual(["first"]);
});
