import { expect, test } from "vitest";
import { connectTo, post, type Reply, setup, startTestService } from "../../../test/harness.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 1 };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("a retry that overtakes the original request in another process does not make other requests fail", async () => {
  const { database, service, project } = await setup({ LANES: "1" });
  const original = await connectTo(database);
  // The original in another process has been written but not committed.
  await original.query("begin");
  await original.query(
    `insert into cell.keyed_requests
       (project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key)
     values ($1, $2, $3, now(), $4, gen_random_uuid(), 3, 1, 'contested')`,
    [project.projectId, shortHash("contested"), project.test.environmentId, shortHash("another request")],
  );
  const send = (idempotencyKey: string): Promise<Reply> =>
    post(`${service.url}/v1/events`, project.test.key.secret, { ...EVENT, idempotencyKey });
  const contested = send("contested");
  const neighbors = Array.from({ length: 50 }, (_, i) => send(`neighbor-${i}`));
  await pause(300);
  await original.query("commit");

  expect((await contested).status).toBe(409);
  for (const reply of await Promise.all(neighbors)) expect(reply.status).toBe(200);
  expect(await database.count("cell.events")).toBe(50);
});

test("two processes that create the same customers concurrently never deadlock", async () => {
  const { database, service, project } = await setup();
  const other = await startTestService(database);
  const customers = Array.from({ length: 200 }, (_, i) => `customer_${i}`);
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all(
      [service.url, other.url].flatMap((url, side) =>
        (side === 0 ? customers : customers.toReversed()).map((id) =>
          post(`${url}/v1/events`, project.test.key.secret, { ...EVENT, customerId: `${round}-${id}` }),
        ),
      ),
    );
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
  }
  expect(await database.count("cell.customers")).toBe(1_000);
  expect(await database.count("cell.events")).toBe(2_000);
  const [stats] = await database.query(
    "select deadlocks::integer from pg_stat_database where datname = current_database()",
  );
  expect(stats?.["deadlocks"]).toBe(0);
});

test("an event's recorded time is read after the locks are taken, not before waiting for them", async () => {
  const { database, service, project } = await setup({ LANES: "1" });
  const send = (idempotencyKey: string): Promise<Reply> =>
    post(`${service.url}/v1/events`, project.test.key.secret, { ...EVENT, idempotencyKey });
  await send("replayed");
  const blocker = await connectTo(database);
  await blocker.query("begin");
  await blocker.query("select from cell.keyed_requests for update");
  // Both in one batch: the replay waits for the row, and the new event waits with it.
  const waiting = Promise.all([send("replayed"), send("fresh")]);
  await pause(400);
  const { rows } = await blocker.query("select clock_timestamp() as released_at");
  await blocker.query("commit");
  expect((await waiting).map((reply) => reply.status)).toEqual([200, 200]);
  const [fresh] = await database.query(
    "select e.recorded_at from cell.events as e join cell.keyed_requests as k on k.subject_id = e.id where k.key = 'fresh'",
  );
  expect(Number(fresh?.["recorded_at"])).toBeGreaterThanOrEqual(Number(rows[0].released_at) - 1);
});

test("statements planned on an empty database still use indexes after the tables have grown", async () => {
  const { database, record } = await setup({ LANES: "1" });
  await record({ ...EVENT, idempotencyKey: "plans are made here" });
  const scans = async (): Promise<number> => {
    await pause(1_100); // statistics arrive within a second
    const [row] = await database.query(
      "select coalesce(sum(seq_scan), 0)::integer as n from pg_stat_user_tables where schemaname = 'cell' and relname ~ 'keyed|customers'",
    );
    return Number(row?.["n"]);
  };
  const before = await scans();
  for (let i = 0; i < 50; i++)
    await record({ ...EVENT, customerId: `c${i % 5}`, idempotencyKey: `key-${i}` });
  expect(await scans()).toBe(before);
});
