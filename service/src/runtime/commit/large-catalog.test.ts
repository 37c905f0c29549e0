import { expect, test } from "vitest";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { connectTo, post, type Reply, startTestService } from "../../../test/harness.ts";
import { PRO } from "../../../test/seed.ts";
import { times } from "../../../test/two-services.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";
import { publishPlan } from "../../manage/plans/publish-plan.ts";

/** Publishes versions of an unassigned plan, each with 1,000 features that no other version has. */
async function fillHistory({ database, context }: Credits, versions: number): Promise<void> {
  const { environmentId } = context;
  await database.query(
    `insert into cell.features (environment_id, key, name, pool_id, cost_credits, cost_per)
     select $1, 'old.' || n, 'Old', (select id from cell.pools where environment_id = $1), 1, 1
     from generate_series(1, 1000) as n`,
    [environmentId],
  );
  await database.query(
    `with plan as (
       insert into cell.plans (environment_id, key, name) values ($1, 'old', 'Old') returning id
     ), version as (
       insert into cell.plan_versions (environment_id, plan_id, number, published_at, reach)
       select $1, plan.id, n, now(), 'new_assignments' from plan, generate_series(1, $2::integer) as n
       returning id
     )
     insert into cell.plan_features (environment_id, plan_version_id, feature_id, pool_id, cost_credits, cost_per)
     select $1, version.id, f.id, f.pool_id, 1, 1
     from version, cell.features as f where f.environment_id = $1 and f.key like 'old.%'`,
    [environmentId, versions],
  );
}

const render = (key: string, customerId = "ada") => ({
  customerId,
  feature: "image.render",
  idempotencyKey: key,
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

test("old plan versions are not read again, so neither a charge nor a top-up waits for them", async () => {
  const credits = await setupCredits();
  const { consume, publish, topUp } = credits;
  await topUp("ada", 100_000);
  const measure = async (round: string): Promise<number> => {
    await publish({ reach: "now" });
    const consumeMs = await timed(async () => {
      expect((await consume(render(round))).body).toMatchObject({ allowed: true });
    });
    return consumeMs + (await timed(() => topUp("ada", 1)));
  };
  const small = Math.min(...[await measure("1"), await measure("2"), await measure("3")]);
  await fillHistory(credits, 40);
  const large = Math.min(...[await measure("4"), await measure("5"), await measure("6")]);
  // Reading all 40,000 rows took more than a second.
  expect(large).toBeLessThan(5 * small + 200);
}, 60_000);

test("while a request waits for a part of the catalog, other requests in its lane are served", async () => {
  const { consume, context, project, service, cell, database, publish } = await setupCredits({ LANES: "1" });
  const live = { ...context, environmentId: project.live.environmentId };
  const cost = { credits: 10, per: 1 };
  await defineFeature(cell, live, { key: "image.render", name: "Render", unit: null, pool: "credits", cost });
  const features = [{ feature: "image.render", limit: null }];
  await publishPlan(cell, live, { ...PRO, key: "pro", features });
  const { secret } = project.live.key;
  const other = (key: string): Promise<Reply> => post(`${service.url}/v1/consume`, secret, render(key));
  await post(`${service.url}/v1/check`, secret, { customerId: "ada", feature: "image.render" });
  expect((await other("warm")).body["reason"]).toBe("customer_not_found");
  expect((await consume(render("warm"))).body["allowed"]).toBe(true);

  await publish({ reach: "now" });
  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("lock table cell.plan_features in access exclusive mode");
  const missing = consume(render("missing"));
  const meanwhile: number[] = [];
  for (const index of times(10, (i) => i)) {
    meanwhile.push((await other(`meanwhile-${index}`)).status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await holder.query("rollback");
  expect(meanwhile).toEqual(times(10, () => 200));
  expect((await missing).body).toMatchObject({ allowed: true, creditsCharged: 10 });
}, 60_000);

test("a consume request whose plan cannot be read is rejected within the time limit", async () => {
  const { consume, database, publish } = await setupCredits({ LANES: "1" });
  await publish({ reach: "now" });
  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("lock table cell.plan_features in access exclusive mode");
  const startMs = performance.now();
  const replies = await Promise.all(times(5, (i) => consume(render(`missing-${i}`))));
  const tookMs = performance.now() - startMs;
  await holder.query("rollback");
  expect(replies.map(({ status }) => status)).toEqual(times(5, () => 503));
  // The limit is two seconds; the longer time allows for a busy machine.
  expect(tookMs).toBeLessThan(8_000);
  expect((await consume(render("missing-0"))).body).toMatchObject({ allowed: true, creditsCharged: 10 });
}, 60_000);

test("a process with an empty cache applies 40 published versions that a customer missed", async () => {
  const { assign, consume, database, project, publish } = await setupCredits();
  const limited = (quantity: number) => [
    { feature: "image.render", limit: { quantity, period: "month" } as const },
  ];
  const allowances = [{ pool: "credits", credits: 1_000, period: "month", rollover: 0, overage: 0 }] as const;
  await publish({ reach: "now", features: limited(10), allowances });
  await assign("ben");
  expect((await consume(render("before", "ben"))).body["allowed"]).toBe(true);
  for (const round of times(40, (i) => i)) {
    await publish({ reach: "now", features: limited(11 + round), allowances });
  }
  const fresh = await startTestService(database);
  const check = await post(`${fresh.url}/v1/check`, project.test.key.secret, {
    customerId: "ben",
    feature: "image.render",
  });
  expect(check.body).toMatchObject({ allowed: true, balance: 990, limit: { remaining: 49 } });
  const reply = await post(`${fresh.url}/v1/consume`, project.test.key.secret, render("after", "ben"));
  expect(reply.body).toMatchObject({ allowed: true, limit: { remaining: 48 } });
  const changes = await database.query(
    "select distinct plan_version_id from cell.assignments where customer_number = (select number from cell.customers where customer_id = 'ben')",
  );
  expect(changes).toHaveLength(41);
}, 60_000);
