import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { connectTo } from "../../../../test/harness.ts";
import { lastMonths } from "../../../../test/months.ts";
import { expectExactSums, settle } from "../../../../test/usage.ts";
import { WatchedSession } from "../../../../test/watched-session.ts";
import { keepPartitions } from "../../../jobs/keep-partitions.ts";
import { Session } from "../../../postgres/session.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { repairDay } from "./repair-day.ts";

test("a day whose month is detached during its repair keeps its roll-ups", async () => {
  const { database, project, cell } = await setupCredits();
  const [last = "", month = ""] = lastMonths(2);
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select t.at, gen_random_uuid(), $1, 1, 'old', 1, t.at, 'r' from (select $2::timestamptz + interval '8 hours' as at) as t`,
    [project.test.environmentId, `${last}-15T00:00:00Z`],
  );
  await settle({ cell, database });
  const session = await Session.open({ url: database.serviceUrl, name: "test", connectTimeoutMs: 5_000 });
  onTestFinished(() => session.destroy());

  const partition = `cell.events_${last.replace("-", "_")}`;
  const client = await connectTo(database);
  let detached: Promise<unknown> | null = null;
  // Detaches the month between the delete and the insert.
  const interrupted = new WatchedSession(session, async ({ name }) => {
    if (name !== "usage_rebuild.insert_customers") return;
    detached ??= client.query(`alter table cell.events detach partition ${partition} concurrently`);
    await expect.poll(() => database.count("pg_inherits", "inhdetachpending")).toBe(1);
  });
  const day = brandAs<Instant>(Date.parse(`${last}-15T00:00:00Z`));
  await expect(repairDay(interrupted, day)).rejects.toThrow("attach them first");
  // The detach waits for transactions that saw the month.
  await detached;
  expect(await database.count("cell.events")).toBe(0);
  await database.query(
    `alter table cell.events attach partition ${partition}
     for values from ('${last}-01 00:00:00+00') to ('${month}-01 00:00:00+00')`,
  );
  await expectExactSums(database);
});
