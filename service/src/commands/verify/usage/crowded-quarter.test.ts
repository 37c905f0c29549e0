import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { expectExactSums, settle } from "../../../../test/usage.ts";
import { WatchedSession } from "../../../../test/watched-session.ts";
import { Session } from "../../../postgres/session.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { repairDay } from "./repair-day.ts";
import { utcDay } from "./utc-day.ts";
import { verifyUsage } from "./verify-usage.ts";

const SLICES_NEEDED = 4;
/** Statements whose parameters are: environments, from, to, number of customer slices, index of the slice. */
const OF_SOME = ["usage_compare.with_rows", "usage_rebuild.insert_customers"];

/** Simulates a server that times out if a statement reads more than a quarter of a bucket's customers. */
function slowDown(session: Session, crowdedAt: number) {
  /** The slices in which the large bucket was read. */
  const taken: string[] = [];
  const slow = new WatchedSession(session, async ({ name }, [, from, to, slices, slice]) => {
    const isOf = Date.parse(String(from)) <= crowdedAt && crowdedAt < Date.parse(String(to));
    if (!OF_SOME.includes(name) || !isOf) return;
    if (Number(slices) < SLICES_NEEDED) throw new Error("Query read timeout");
    taken.push(`${slice} of ${slices}`);
  });
  return { slow, taken };
}

test("a bucket that is too large for one statement is verified and repaired in slices of customers", {
  timeout: 120_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const [row] = await database.query("select date_trunc('hour', now()) as at");
  const at = new Date(String(row?.["at"])).getTime();
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), $1, i % 200, 'event.' || i % 3, i, $2::timestamptz, 'r' from generate_series(1, 2000) as i`,
    [project.test.environmentId, new Date(at)],
  );
  await settle({ cell, database });
  const session = await Session.open({ url: database.serviceUrl, name: "test", connectTimeoutMs: 5_000 });
  onTestFinished(() => session.destroy());
  const all = Array.from({ length: SLICES_NEEDED }, (_, slice) => `${slice} of ${SLICES_NEEDED}`);
  const verify = async () => {
    const { slow, taken } = slowDown(session, at);
    return { ...(await verifyUsage(slow, null)), taken };
  };
  expect(await verify()).toEqual({ wrong: null, rows: 2_000, taken: all });

  await database.query(`update cell.usage_customer_days
     set bucket_counts[array_lower(bucket_counts, 1)] = bucket_counts[array_lower(bucket_counts, 1)] + 1, count = count + 1
     where customer_number = 7`);
  await database.query("update cell.usage_buckets set count = count + 1");
  // The roll-ups match each other, but not the rows.
  const { wrong } = await verify();
  expect(wrong).toMatchObject({ customerNumber: 7, missing: { count: -1n } });
  await database.query("update cell.usage_buckets set quantity = quantity + 1");
  const { slow, taken } = slowDown(session, at);
  await repairDay(slow, utcDay(brandAs<Instant>(at)));
  expect(taken).toEqual(all);
  await expectExactSums(database);
  expect((await verify()).wrong).toBe(null);
});
