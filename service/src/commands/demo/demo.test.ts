import { expect, onTestFinished, test } from "vitest";
import {
  createDatabase,
  createTestProject,
  post,
  prepareOnce,
  startTestService,
  type TestDatabase,
} from "../../../test/harness.ts";
import { openTestPool } from "../../../test/seed.ts";
import { forgetOldRequests } from "../../jobs/forget-old-requests.ts";
import type { Context } from "../../manage/context.ts";
import { reverseConsume } from "../../manage/credits/reverse-consume.ts";
import { revokeGrant } from "../../manage/credits/revoke-grant.ts";
import type { CreatedProject } from "../../manage/projects/create-project.ts";
import { summarizeRequests } from "../../manage/requests/summarize-requests.ts";
import type { Pool } from "../../postgres/pool.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { verifyCommand } from "../verify.ts";
import { LIMITED, PAID_IN_VAIN, RICH_COMPANY, TWICE_CHARGED, WRONGLY_CREDITED } from "./companies.ts";
import { findDemoCustomer, seedDemo } from "./seed-demo.ts";

type Demo = { database: TestDatabase; project: CreatedProject; cell: Pool; context: Context };

const contextIn = ({ projectId, test }: CreatedProject): Context => ({
  projectId,
  environmentId: test.environmentId,
  actor: { kind: "command", id: null, requestId: null },
});

const prepareDemo = prepareOnce(async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  expect(await seedDemo(database.url, contextIn(project))).toBe(true);
  return { database, facts: project };
});

async function setupDemo(): Promise<Demo> {
  const { template, facts: project } = await prepareDemo();
  const database = await createDatabase(template);
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  return { database, project, cell, context: contextIn(project) };
}

/** The outcome of a logged request, as the hourly counts store it. */
const OUTCOME = "coalesce(l.code, l.reason, 'ok')";

const TABLES = [
  "customers",
  "wallets",
  "ledger",
  "denials",
  "events",
  "keyed_requests",
  "grants",
  "assignments",
  "audit",
  "request_log",
  "request_counts",
];

async function countAll(database: TestDatabase): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) counts[table] = await database.count(`cell.${table}`);
  return counts;
}

test("the demo has a realistic size, and is created only once and only in the test environment", async () => {
  const { database, project, context } = await setupDemo();
  const counts = await countAll(database);
  expect(counts).toMatchObject({ customers: 40, wallets: 40 });
  expect(counts["ledger"]).toBeGreaterThan(1_200);
  expect(counts["events"]).toBeGreaterThan(800);
  expect(counts["denials"]).toBeGreaterThan(20);
  expect(await database.count("cell.customers", `environment_id <> ${project.test.environmentId}`)).toBe(0);
  expect(await database.count("cell.customers", "name is null or email is null")).toBe(0);
  const [span] = await database.query(
    "select extract(day from now() - min(recorded_at))::integer as days, max(recorded_at) <= now() as is_past from cell.ledger",
  );
  expect(span).toMatchObject({ is_past: true });
  expect(span?.["days"]).toBeGreaterThan(55);
  expect(await seedDemo(database.url, context)).toBe(false);
  expect(await countAll(database)).toEqual(counts);
});

test("the demo passes purser verify, and every idempotency key has a charge, a hold or a denial", async () => {
  const { database } = await setupDemo();
  const lines: string[] = [];
  const isSound = await verifyCommand({ databaseUrl: database.url, print: (line) => lines.push(line) });
  expect(isSound, lines.join(" ")).toBe(true);
  const orphans = await database.count(
    "cell.keyed_requests as k",
    `not exists (select from cell.ledger as l where l.key_hash = k.key_hash)
     and not exists (select from cell.hold_changes as h where h.key_hash = k.key_hash)
     and not exists (select from cell.denials as d where d.key_hash = k.key_hash)`,
  );
  expect(orphans).toBe(0);
});

test("the printed charge is allowed and recorded in the ledger, and a retry with its key replays", async () => {
  const { database, project, cell } = await setupDemo();
  const { secret } = project.test.key;
  expect(await findDemoCustomer(cell, secret)).toBe(RICH_COMPANY);
  expect(await findDemoCustomer(cell, project.live.key.secret)).toBeNull();
  const service = await startTestService(database);
  const body = { customerId: RICH_COMPANY, feature: "image.generate", quantity: 1 };
  const check = await post(`${service.url}/v1/check`, secret, body);
  const consume = (): ReturnType<typeof post> =>
    post(`${service.url}/v1/consume`, secret, { ...body, idempotencyKey: "first-consume" });
  const reply = await consume();
  expect(reply.body).toMatchObject({ allowed: true, creditsCharged: 10, limit: null });
  expect(reply.body["balance"]).toBe(Number(check.body["balance"]) - 10);
  expect((await consume()).text).toBe(reply.text);
  const [wallet] = await database.query(
    `select w.balance::integer, (select sum(l.amount) from cell.ledger as l where l.customer_number = c.number)::integer as total
     from cell.customers as c
     join cell.wallets as w on w.customer_number = c.number
     where c.customer_id = $1`,
    [RICH_COMPANY],
  );
  // Unlike the balance in the response, the wallet's balance includes the credits held for chat replies.
  const held = Number(wallet?.["balance"]) - Number(reply.body["balance"]);
  expect(held).toBeGreaterThan(0);
  expect(wallet?.["total"]).toBe(wallet?.["balance"]);
});

test("the demo has open, settled and expired holds for chat replies, and an open hold can be settled", async () => {
  const { database, project } = await setupDemo();
  const { secret } = project.test.key;
  const service = await startTestService(database);
  const list = async (): Promise<{ holdId: string; status: string }[]> => {
    const response = await fetch(`${service.url}/v1/customers/${RICH_COMPANY}/holds`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    return ((await response.json()) as { items: { holdId: string; status: string }[] }).items;
  };
  const holds = await list();
  const newestFirst = ["open", "settled", "open", "settled", "expired", "settled", "settled"];
  expect(holds.map(({ status }) => status)).toEqual(newestFirst);
  const settled = await post(`${service.url}/v1/holds/${holds[0]?.holdId}/settle`, secret, {
    customerId: RICH_COMPANY,
    quantity: 4_000,
  });
  expect(settled.body).toMatchObject({ creditsCharged: 20, creditsReleased: 20 });
});

test("the demo's double charge has one job and two keys, and the second charge can be replayed and reversed", async () => {
  const { database, project, cell, context } = await setupDemo();
  const charges = await database.query(
    `select l.quantity, l.amount::integer, l.metadata, k.key, k.subject_id, extract(epoch from l.recorded_at) as second
     from cell.ledger as l
     join cell.customers as c on c.number = l.customer_number
     join cell.keyed_requests as k on k.key_hash = l.key_hash
     where c.customer_id = $1
       and l.metadata ->> 'jobId' = 'job_7c41e90b'
     order by l.recorded_at`,
    [TWICE_CHARGED],
  );
  expect(charges).toMatchObject([
    { quantity: 1, amount: -50, key: "job_7c41e90b/attempt-1" },
    { quantity: 1, amount: -50, key: "job_7c41e90b/attempt-2" },
  ]);
  expect(charges[0]?.["metadata"]).toEqual(charges[1]?.["metadata"]);
  expect(Number(charges[1]?.["second"]) - Number(charges[0]?.["second"])).toBeLessThan(10);

  const service = await startTestService(database);
  const replayed = await post(`${service.url}/v1/consume`, project.test.key.secret, {
    customerId: TWICE_CHARGED,
    feature: "video.render",
    metadata: charges[1]?.["metadata"],
    idempotencyKey: "job_7c41e90b/attempt-2",
  });
  expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  const consumeId = String(replayed.body["consumeId"]);
  expect(await reverseConsume(cell, context, { consumeId, quantity: null })).toMatchObject({
    kind: "reversed",
    credits: 50,
    quantity: 1,
  });
});

test("the demo's wrongly credited purchase is found by its reference and can be revoked", async () => {
  const { database, cell, context } = await setupDemo();
  const [purchase] = await database.query(
    `select c.customer_id, g.number, g.credits::integer, g.note, g.recorded_at
     from cell.grants as g
     join cell.customers as c on c.number = g.customer_number
     where g.reference like 'pi\\_%'
       and g.note is not null`,
  );
  expect(purchase).toMatchObject({
    customer_id: WRONGLY_CREDITED,
    credits: 2_000,
    note: expect.stringContaining("Northlight Robotics"),
  });
  const denied = await database.query(
    `select c.name
     from cell.denials as d
     join cell.customers as c on c.number = d.customer_number
     where c.customer_id = $1
       and d.reason = 6
       and d.recorded_at > $2`,
    [PAID_IN_VAIN, purchase?.["recorded_at"]],
  );
  expect(denied.length).toBeGreaterThanOrEqual(3);
  expect(denied[0]).toEqual({ name: "Northlight Robotics" });
  const customerId = brandAs<CustomerId>(WRONGLY_CREDITED);
  const grant = { customerId, grant: Number(purchase?.["number"]), note: null };
  expect(await revokeGrant(cell, context, grant)).toMatchObject({ kind: "revoked" });
});

test("a demo customer with credits left reaches a daily limit several times in one day", async () => {
  const { database } = await setupDemo();
  const days = await database.query(
    `select (d.recorded_at at time zone 'UTC')::date as day, count(*)::integer as times, min(d.balance)::integer > 0 as has_credits
     from cell.denials as d
     join cell.customers as c on c.number = d.customer_number
     where c.customer_id = $1
       and d.reason = 5
       and d.limit_quantity = 20
     group by 1, d.resets_at
     having count(*) >= 3`,
    [LIMITED],
  );
  expect(days).toMatchObject([{ has_credits: true }]);
});

test("the demo's request log covers the last week, including denials, retries and errors", async () => {
  const { database, project, cell } = await setupDemo();
  const { environmentId } = project.test;
  // Every charge, hold and denial of the week is logged once, and retries are logged as replays.
  const unlogged = await database.query(
    `select k.key
     from cell.keyed_requests as k
     where k.recorded_at > now() - interval '6 days'
       and 1 <> (
         select count(*)
         from cell.request_log as l
         where l.key_hash = k.key_hash
           and l.recorded_at = k.recorded_at
           and l.endpoint in ('consume', 'holds')
           and l.code is null
           and not l.is_replay
       )`,
  );
  expect(unlogged).toEqual([]);
  const outcomes = await database.query(
    `select l.status, ${OUTCOME} as outcome, bool_or(l.is_replay) as has_replay
     from cell.request_log as l
     group by 1, 2`,
  );
  expect(outcomes).toEqual(
    expect.arrayContaining([
      { status: 200, outcome: "ok", has_replay: true },
      expect.objectContaining({ status: 200, outcome: "insufficient_credits" }),
      { status: 404, outcome: "feature_not_found", has_replay: false },
      { status: 409, outcome: "idempotency_key_reused", has_replay: false },
    ]),
  );
  // Hourly counts match the log, IDs are in time order, only the test environment has rows, and the next purge deletes no rows.
  const miscounted = await database.query(
    `select c.hour
     from cell.request_counts as c
     full join (
       select date_trunc('hour', l.recorded_at, 'UTC') as hour, l.endpoint, ${OUTCOME} as outcome, count(*) as requests
       from cell.request_log as l
       group by 1, 2, 3
     ) as l using (hour, endpoint, outcome)
     where c.requests is distinct from l.requests`,
  );
  expect(miscounted).toEqual([]);
  const isWrong = `environment_id <> ${environmentId} or recorded_at > now() or customer_number is null`;
  expect(await database.count("cell.request_log", isWrong)).toBe(0);
  const times = await database.query("select recorded_at as at from cell.request_log order by id");
  expect(times).toEqual(times.toSorted((a, b) => Number(a["at"]) - Number(b["at"])));
  expect(await forgetOldRequests(cell)).toBe(0);
  const day = await summarizeRequests(cell, environmentId, { hours: 24, start: null });
  expect(day.total.ok).toBeGreaterThan(20);
  expect(day.unknownFeatures.map(({ key }) => key)).toEqual(["image.upscale"]);
});

test("demo customers are numbered in the order in which they joined, so that the newest are listed first", async () => {
  const { database } = await setupDemo();
  const rows = await database.query("select created_at from cell.customers order by number");
  const joined = rows.map((row) => String(row["created_at"])).map((at) => Date.parse(at));
  expect(joined).toEqual(joined.toSorted((a, b) => a - b));
  expect(new Set(joined).size).toBeGreaterThan(10);
});
