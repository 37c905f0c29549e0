import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { consumeOn } from "../../../test/consume-on.ts";
import { setupCredits } from "../../../test/credits.ts";
import { connectTo, post, type Reply, startTestService } from "../../../test/harness.ts";
import { SERVICE_ROLE } from "../../../test/postgres.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";
import { Wire } from "../../../test/wire.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";
import { grantToService } from "../../postgres/privileges.ts";
import { Session } from "../../postgres/session.ts";
import { single } from "../../postgres/transaction.ts";
import { CatalogCache } from "../../store/cell/catalogs.ts";
import { Lanes } from "../commit/lanes.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function setupOnWire() {
  const credits = await setupCredits();
  const { database, project } = credits;
  const wire = await Wire.open();
  const service = await startTestService(database, { DATABASE_URL: wire.urlOf(database), LANES: "1" });
  const render = (idempotencyKey: string): Promise<Reply> =>
    post(`${service.url}/v1/consume`, project.test.key.secret, {
      customerId: "ada",
      feature: "image.render",
      idempotencyKey,
    });
  await credits.topUp("ada", 100);
  const check = (): Promise<Reply> =>
    post(`${service.url}/v1/check`, project.test.key.secret, { customerId: "ada", feature: "image.render" });
  return { ...credits, wire, render, check };
}

test("if the response to a commit is lost, the charge is found, counted once and not marked as a replay", async () => {
  const { database, wire, render } = await setupOnWire();
  await render("warm");
  for (let round = 0; round < 5; round++) {
    wire.loseNextCommitReply();
    const replies = await Promise.all(times(3, (i) => render(`key-${round}-${i}`)));
    for (const reply of replies) {
      expect(reply.body).toMatchObject({ allowed: true, creditsCharged: 10 });
      expect(reply.headers.has("idempotent-replayed")).toBe(false);
    }
    expect(new Set(replies.map(({ body }) => body["balance"])).size).toBe(3);
  }
  expect(await database.count("cell.ledger", "kind = 2")).toBe(16);
  expect(await database.query("select balance from cell.wallets")).toEqual([{ balance: "40" }]);
  await expectSoundBooks(database);
});

test("if a lost commit is not found in time, the charge's outcome is reported as unknown, and a retry with the key returns it", async () => {
  const { database, wire, render } = await setupOnWire();
  await render("warm");
  wire.loseNextCommitReply({ thenRefusing: true });
  const lost = await render("lost");
  expect(lost).toMatchObject({ status: 503, body: { code: "outcome_unknown" } });
  wire.mend();
  await pause(500);
  const again = await render("lost");
  expect(again.body).toMatchObject({ allowed: true, balance: 180 });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await database.count("cell.ledger", "kind = 2")).toBe(2);
});

test("during a database outage, consume and check requests are rejected within a second, and they succeed afterward", async () => {
  const { database, wire, render, check } = await setupOnWire();
  await render("warm");
  expect((await check()).status).toBe(200);
  wire.cut({ refusing: true });
  const startedAt = performance.now();
  const replies = await Promise.all(times(20, (i) => (i % 2 === 0 ? render(`cut-${i}`) : check())));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  for (const { status } of replies) expect(status).toBe(503);
  wire.mend();
  await pause(500);
  expect((await render("cut-0")).body["allowed"]).toBe(true);
  expect((await check()).body["allowed"]).toBe(true);
  await expectSoundBooks(database);
});

test("a charge that PostgreSQL rejects is isolated by halving the batch, and the other charges succeed", async () => {
  const { consume, database } = await setupCredits({ LANES: "1" });
  await database.query("alter table cell.ledger add constraint no_poison check (quantity <> 17)");
  const replies = await Promise.all(
    times(30, (i) =>
      consume({ customerId: "ada", feature: "text.generate", quantity: i + 1, idempotencyKey: `key-${i}` }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(times(30, (i) => (i === 16 ? 500 : 200)));
  expect(await database.query("select balance from cell.wallets")).toEqual([{ balance: "71" }]);
  await expectSoundBooks(database);
});

// The second feature is not in the plan. Its denial must not use the wallet of the customer who has the same number.
test.each(["text.generate", "video.render"])(
  "if the sequence of customer numbers lags behind, only requests for new customers are rejected: %s",
  async (feature) => {
    const { cell, consume, context, database, topUp } = await setupCredits({ LANES: "1" });
    await topUp("ada", 1_000);
    await setDefaultPlan(cell, context, { plan: "pro" });
    // As after logical replication, which copies rows but not sequences.
    await database.query(
      `insert into cell.customers (environment_id, customer_id, created_at)
     select environment_id, 'copied-' || n, created_at from cell.customers, generate_series(1, 500) as n`,
    );
    const [row] = await database.query("select pg_get_serial_sequence('cell.customers', 'number') as name");
    await consume({ customerId: "ada", feature: "text.generate", idempotencyKey: "loads the catalog" });
    // Repeated, because timing decides whether the new customer gets ada's number after ada's charges.
    for (const round of rounds(5)) {
      await database.query(`alter sequence ${row?.["name"]} restart`);
      const replies = await Promise.all(
        times(20, (i) =>
          consume({
            ...(i === 19
              ? { customerId: "newcomer", feature }
              : { customerId: "ada", feature: "text.generate" }),
            idempotencyKey: `key-${round}-${i}`,
          }),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual(times(20, (i) => (i === 19 ? 503 : 200)));
      expect(replies[19]?.body).toMatchObject({ code: "overloaded" });
    }
    expect(await database.count("cell.denials")).toBe(0);
    await expectSoundBooks(database);
  },
);

test("without the privilege to delete expired keys, only requests that reuse an expired key fail", async () => {
  const { consume, database, topUp } = await setupCredits({ LANES: "1", IDEMPOTENCY_DAYS: "40" });
  await topUp("ada", 1_000);
  const charge = (key: string) =>
    consume({ customerId: "ada", feature: "text.generate", idempotencyKey: key });
  await charge("key-17");
  await database.query("alter table cell.keyed_requests disable trigger user");
  await database.query("update cell.keyed_requests set recorded_at = recorded_at - interval '41 days'");
  await database.query("alter table cell.keyed_requests enable trigger user");
  // The same happens if migrations run without IDEMPOTENCY_DAYS, but services run with it.
  await grantToService(await connectTo(database), SERVICE_ROLE, { endsKeys: false });
  const replies = await Promise.all(times(40, (i) => charge(`key-${i}`)));
  expect(replies.map(({ status }) => status)).toEqual(times(40, (i) => (i === 17 ? 500 : 200)));
  await expectSoundBooks(database);
});

test("while the database is unreachable, both halves of a batch are rejected", async () => {
  const { cell, context, database } = await setupCredits();
  await database.query("alter table cell.ledger add constraint no_poison check (quantity <> 17)");
  const wire = await Wire.open();
  const lanes = new Lanes(1, {
    openSession: (connectTimeoutMs) =>
      Session.open({ url: wire.urlOf(database), name: "test lane", connectTimeoutMs }),
    catalogs: new CatalogCache((work) => single(cell, work)),
    idempotencyDays: null,
    onBatch: () => {},
    onFailure: ({ kind }) => {
      if (kind !== "bad_row") return;
      // From now on the server does not respond, and connecting fails only after the timeout.
      wire.hold();
      wire.cut();
    },
  });
  const charge = async (quantity: number): Promise<{ kind: string; atMs: number }> => {
    const { kind } = await consumeOn(lanes, context, {
      feature: "text.generate",
      quantity,
      key: `key-${quantity}`,
    });
    return { kind, atMs: performance.now() };
  };
  expect(await charge(1)).toMatchObject({ kind: "answered" });
  const [first, second] = await Promise.all([charge(17), charge(18)]);
  expect([first.kind, second.kind]).toEqual(["unavailable", "unavailable"]);
  expect(second.atMs - first.atMs).toBeLessThan(300);
  wire.release();
  await lanes.close();
}, 30_000);
