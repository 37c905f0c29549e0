import { expect, test } from "vitest";
import { connectTo, type Reply, startTestService } from "../../../test/harness.ts";
import { expectVerified } from "../../../test/holds.ts";
import { send } from "../../../test/manage.ts";
import { type Reversals, setupReversals } from "../../../test/reversals.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";
import { hashKey } from "../../entitlement/key-hash.ts";

type Two = Reversals & {
  /** Reverses with the API key, at one of two services on one database. */
  reverseAt(turn: number, consumeId: string, body?: object): Promise<Reply>;
  /** Reverses as an operator, at one of the services. */
  byHandAt(turn: number, consumeId: string, body?: object): Promise<Reply>;
};

async function setupTwo(): Promise<Two> {
  const reversals = await setupReversals();
  const { database, service, here, tokens } = reversals;
  const urls = [service.url, (await startTestService(database)).url] as const;
  return {
    ...reversals,
    reverseAt: (turn, consumeId, body) => reversals.reverse(consumeId, body, urls[turn % 2]),
    byHandAt: (turn, consumeId, body = {}) =>
      send(`${urls[turn % 2]}${here}/customers/ada/consumes/${consumeId}/reverse`, "POST", {
        token: tokens.owner,
        body,
      }),
  };
}

const sum = (numbers: readonly unknown[]): number =>
  numbers.reduce<number>((total, each) => total + Number(each), 0);

test("only one of several concurrent reversals by a backend and by an operator returns the credits", {
  timeout: 600_000,
}, async () => {
  const { charge, reverseAt, byHandAt, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const consumeId = await charge({
      items: [{ feature: "image.render", quantity: 4 }, { feature: "export" }],
    });
    const [byKey, byHand] = await Promise.all([
      Promise.all(times(6, (i) => reverseAt(i, consumeId))),
      Promise.all(times(6, (i) => byHandAt(i + round, consumeId))),
    ]);
    const won = byKey.filter(({ status }) => status === 200);
    const first = won.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    const wonByHand = byHand.filter(({ status }) => status === 200);
    expect({ round, winners: first.length + wonByHand.length }).toEqual({ round, winners: 1 });
    // If the backend won, all its repeated requests are replays of that response.
    expect(won).toHaveLength(first.length === 1 ? 6 : 0);
    expect(new Set(won.map(({ text }) => text)).size).toBe(first.length);
    const lost = [...byKey, ...byHand].filter(({ status }) => status !== 200);
    expect(new Set(lost.map(({ body }) => body["code"]))).toEqual(new Set(["nothing_to_reverse"]));
    expect(await balance()).toBe(100);
  }
  await expectVerified(database);
});

test("concurrent partial and full reversals never return more than was charged", {
  timeout: 600_000,
}, async () => {
  const { charge, reverseAt, byHandAt, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const consumeId = await charge({ feature: "image.render", quantity: 5 });
    const part = (key: number) => ({ quantity: 2, idempotencyKey: `undo-${round}-${key}` });
    const [byKey, byHand] = await Promise.all([
      Promise.all([
        ...times(8, (i) => reverseAt(i, consumeId, part(i % 4))),
        ...times(2, (i) => reverseAt(i, consumeId)),
      ]),
      Promise.all(times(2, (i) => byHandAt(i, consumeId, { quantity: 1 }))),
    ]);
    const isFirst = ({ status, headers }: Reply) =>
      status === 200 && headers.get("idempotent-replayed") === null;
    const returned =
      sum(byKey.filter(isFirst).map(({ body }) => body["creditsReturned"])) +
      sum(byHand.filter(isFirst).map(({ body }) => body["credits"]));
    expect({ round, returned, balance: await balance() }).toEqual({ round, returned: 50, balance: 100 });
  }
  await expectVerified(database);
});

test("an idempotency key shared by concurrent reversals and charges for several customers takes effect only once", {
  timeout: 600_000,
}, async () => {
  const { charge, reverseAt, consume, assign, balance, database } = await setupTwo();
  await assign("eve");
  for (const round of rounds(10)) {
    const consumeId = await charge({ feature: "image.render" });
    const idempotencyKey = `same-${round}`;
    const replies = await Promise.all([
      ...times(4, (i) => reverseAt(i, consumeId, { quantity: 1, idempotencyKey })),
      ...times(4, () => consume({ customerId: "eve", feature: "export", idempotencyKey })),
    ]);
    const won = new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text));
    expect({ round, winners: won.size }).toEqual({ round, winners: 1 });
    const lost = replies.filter(({ status }) => status !== 200);
    for (const { body } of lost) expect(body).toMatchObject({ status: 409, conflict: "endpoint" });
    expect(lost).toHaveLength(4);
    const wasReversed = [...won].some((text) => text.includes("creditsReturned"));
    if (!wasReversed) await reverseAt(0, consumeId);
    expect(await balance()).toBe(100);
  }
  await expectVerified(database);
});

test("a reversal is rejected and changes nothing if another request stores its key first", async () => {
  const { charge, reverse, balance, database } = await setupReversals();
  const consumeId = await charge({ feature: "image.render" });
  const other = await connectTo(database);
  await other.query("begin");
  // Stores the charge's response again, under the key that the reversal will use.
  await other.query(
    `insert into cell.keyed_requests (
       project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key, credits, balance
     )
     select
       project_id, $1, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, 'same', credits, balance
     from cell.keyed_requests`,
    [hashKey("same")],
  );
  const reversing = reverse(consumeId, { quantity: 1, idempotencyKey: "same" });
  const waiting =
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%keyed_requests%'";
  await expect.poll(async () => (await database.query(waiting)).length, { interval: 20 }).toBe(1);
  await other.query("commit");
  expect((await reversing).body).toMatchObject({ status: 409, conflict: "endpoint" });
  expect(await balance()).toBe(90);
});
