import { expect, test } from "vitest";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { changedTables } from "./changed-tables.ts";
import { expectReplay } from "./replay.ts";

// `memberId` in check, consume and events: recorded, but not part of the decision.

const CONSUME = { customerId: "ada", feature: "image.render", idempotencyKey: "key-1" };
const EVENT = { customerId: "ada", event: "tokens", quantity: 5 };

const ORDER = { ledger: "sequence", denials: "id", events: "id" };

/** The members of the rows, in the order in which they were written. */
async function membersIn({ database }: Credits, table: keyof typeof ORDER): Promise<unknown[]> {
  const rows = await database.query(`select member_id from cell.${table} order by ${ORDER[table]}`);
  return rows.map((row) => row["member_id"]);
}

test("the member is stored with a charge, a denial and an event", async () => {
  const credits = await setupCredits();
  const { consume, record } = credits;
  const plain = await consume(CONSUME);
  const charged = await consume({ ...CONSUME, idempotencyKey: "key-2", memberId: "user_7" });
  expect(Object.keys(charged.body)).toEqual(Object.keys(plain.body));
  await consume({ ...CONSUME, idempotencyKey: "key-3", memberId: "user_8", quantity: 1_000 });
  await record({ ...EVENT, memberId: "user_9" });
  await record(EVENT);
  expect(await membersIn(credits, "ledger")).toEqual([null, null, "user_7"]);
  expect(await membersIn(credits, "denials")).toEqual(["user_8"]);
  expect(await membersIn(credits, "events")).toEqual(["user_9", null]);
});

test("the member is stored with the charge for every item", async () => {
  const credits = await setupCredits();
  const items = [{ feature: "image.render" }, { feature: "text.generate", quantity: 1_000 }];
  await credits.consume({ customerId: "ada", items, memberId: "user_7", idempotencyKey: "key-1" });
  expect(await membersIn(credits, "ledger")).toEqual([null, "user_7", "user_7"]);
});

test("a check accepts a member and returns the same response as without a member", async () => {
  const credits = await setupCredits();
  const { check, database } = credits;
  const ask = { customerId: "ada", feature: "image.render" };
  const plain = await check(ask);
  const changed = await changedTables(database, async () => {
    expect((await check({ ...ask, memberId: "user_7" })).text).toBe(plain.text);
  });
  expect(changed).toEqual([]);
});

test("a retry with the same member replays, and a retry with another member gets 409", async () => {
  const credits = await setupCredits();
  const { consume, record } = credits;
  const first = { ...CONSUME, memberId: "user_7" };
  const original = await consume(first);
  await expectReplay(consume(first), original);
  for (const other of [{ ...CONSUME, memberId: "user_8" }, CONSUME]) {
    expect((await consume(other)).body).toMatchObject({ status: 409, code: "idempotency_key_reused" });
  }
  const event = { ...EVENT, memberId: "user_7", idempotencyKey: "key-2" };
  const recorded = await record(event);
  await expectReplay(record(event), recorded);
  expect((await record({ ...event, memberId: "user_8" })).status).toBe(409);
});

test("an invalid member is rejected by check, consume and events", async () => {
  const { check, consume, record } = await setupCredits();
  const bad = [
    ["", "too_short"],
    ["x".repeat(256), "too_long"],
    [7, "wrong_type"],
    [null, "wrong_type"],
    ["a\0b", "wrong_form"],
    ["\ud83d", "wrong_form"],
  ] as const;
  for (const [memberId, code] of bad) {
    for (const reply of [
      await check({ ...CONSUME, memberId }),
      await consume({ ...CONSUME, memberId }),
      await record({ ...EVENT, memberId }),
    ]) {
      expect([memberId, reply.status, reply.body["errors"]]).toMatchObject([
        memberId,
        400,
        [{ field: "memberId", code }],
      ]);
    }
  }
  expect((await consume({ ...CONSUME, memberId: "😀".repeat(255) })).status).toBe(200);
});

test("until the upgrade is finished, requests with a member are rejected and store nothing", async () => {
  const credits = await setupCredits({}, async (unfinished) => {
    await unfinished.query("update cell.identity set data_format = 1");
  });
  const { consume, record, database } = credits;
  const changed = await changedTables(database, async () => {
    for (const reply of [
      await consume({ ...CONSUME, memberId: "user_7" }),
      await record({ ...EVENT, memberId: "user_7" }),
      await record({ ...EVENT, customerId: "new", memberId: "user_7", idempotencyKey: "key-2" }),
    ])
      expect(reply).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  });
  expect(changed).toEqual([]);
  await database.query("update cell.identity set data_format = 2");
  expect((await consume({ ...CONSUME, memberId: "user_7" })).body["allowed"]).toBe(true);
  expect((await record({ ...EVENT, memberId: "user_7" })).status).toBe(200);
});
