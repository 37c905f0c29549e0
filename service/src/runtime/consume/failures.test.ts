import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupCredits } from "../../../test/credits.ts";
import { post, type Reply, startTestService } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { Wire } from "../../../test/wire.ts";

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

test("a charge whose commit's answer was lost is found again, is no replay, and is charged once", async () => {
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

test("a lost commit that cannot be found in time is answered as unknown, and the key says what became of it", async () => {
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

test("with the database out of reach consume and check are refused in under a second, then served again", async () => {
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

test("a charge that PostgreSQL refuses is found by halving, and its neighbours are charged", async () => {
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
