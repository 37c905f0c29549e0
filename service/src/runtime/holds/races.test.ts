import { expect, test } from "vitest";
import type { Reply } from "../../../test/harness.ts";
import { startTestService } from "../../../test/harness.ts";
import { expectVerified, expireHolds, type Holds, openHolds, setupHolds } from "../../../test/holds.ts";
import { rounds } from "../../../test/rounds.ts";
import { countAllowed, times } from "../../../test/two-services.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";

/** Two services on one database. `at` alternates between the services. */
async function setupTwo(): Promise<Holds & { at(turn: number): Holds }> {
  const first = await setupHolds();
  const second = openHolds(first, (await startTestService(first.database)).url);
  return { ...first, at: (turn) => (turn % 2 === 0 ? first : second) };
}

const statusesOf = (replies: readonly Reply[]): unknown[] =>
  replies.map(({ status, body }) => body["code"] ?? status);

test("with credits for 10, exactly 10 of 50 concurrent holds are allowed", {
  timeout: 600_000,
}, async () => {
  const { at, assign, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const replies = await Promise.all(times(50, (i) => at(i).hold({ customerId, feature: "image.render" })));
    expect({ round, allowed: countAllowed(replies) }).toEqual({ round, allowed: 10 });
    expect(await balance(customerId)).toBe(0);
  }
  await expectVerified(database);
});

test("only one of several concurrent settlements and releases ends a hold, and the others report how it ended", {
  timeout: 600_000,
}, async () => {
  const { at, assign, open, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const holdId = await open({ customerId, feature: "image.render", quantity: 5 });
    const replies = await Promise.all(
      times(12, (i) =>
        i % 3 === 2
          ? at(i).release(holdId, { customerId })
          : at(i).settle(holdId, { customerId, quantity: (i % 3) + 2 }),
      ),
    );
    const won = replies.filter(({ status }) => status === 200);
    expect(new Set(won.map(({ text }) => text)).size).toBe(1);
    const { status, creditsCharged } = won[0]?.body ?? {};
    const lost = status === "released" ? "hold_released" : "hold_settled";
    expect(new Set(statusesOf(replies))).toEqual(new Set([200, lost]));
    expect(await balance(customerId)).toBe(100 - Number(creditsCharged));
  }
  await expectVerified(database);
});

test("a hold that is settled and released at the moment of its expiry is charged once or not at all", {
  timeout: 600_000,
}, async () => {
  const { at, assign, open, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const onExpiry = round % 2 === 0 ? "release" : "charge";
    const holdId = await open({ customerId, feature: "image.render", quantity: 5, onExpiry });
    await expireHolds(database);
    const replies = await Promise.all([
      ...times(4, (i) => at(i).settle(holdId, { customerId, quantity: 3 })),
      ...times(4, (i) => at(i).release(holdId, { customerId })),
      ...times(4, (i) => at(i).hold({ customerId, feature: "text.generate", quantity: 1 })),
    ]);
    // A hold that was charged when it expired cannot be settled again. A hold that was released is settled late, and only once.
    const settled = replies.slice(0, 4);
    expect(new Set(statusesOf(settled))).toEqual(new Set([onExpiry === "charge" ? "hold_settled" : 200]));
    expect(new Set(settled.map(({ body }) => body["consumeId"])).size).toBe(1);
    const charged = onExpiry === "charge" ? 50 : 30;
    expect({ round, balance: await balance(customerId) }).toEqual({ round, balance: 100 - 4 - charged });
    expect(await database.count("cell.ledger", `kind = 2 and amount = ${-charged}`)).toBeGreaterThan(0);
  }
  await expectVerified(database);
});

test("if an extension and a settlement arrive at the same time, the settlement wins and nothing remains held", {
  timeout: 600_000,
}, async () => {
  const { at, assign, open, balance, database } = await setupTwo();
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const holdId = await open({ customerId, feature: "image.render", quantity: 2 });
    const replies = await Promise.all([
      ...times(4, (i) => at(i).extend(holdId, { customerId, quantity: 4 + i })),
      at(round).settle(holdId, { customerId, quantity: 3 }),
      ...times(4, (i) => at(i).extend(holdId, { customerId, expiresInSeconds: 3_600 + i })),
    ]);
    expect(statusesOf(replies).every((status) => status === 200 || status === "hold_settled")).toBe(true);
    expect(await balance(customerId)).toBe(70);
  }
  expect(await database.count("cell.open_holds")).toBe(0);
  await expectVerified(database);
});

test("holds that are open across the end of a period do not reduce the allowance of the new period", {
  timeout: 600_000,
}, async () => {
  const { at, assign, open, balance, database } = await setupTwo();
  const held: { customerId: string; holdId: string }[] = [];
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    held.push({ customerId, holdId: await open({ customerId, feature: "image.render", quantity: 4 }) });
  }
  await windBack(database, 31 * DAY_MS);
  const replies = await Promise.all(
    held.flatMap(({ customerId, holdId }, round) => [
      at(round).settle(holdId, { customerId, quantity: 3 }),
      at(round + 1).hold({ customerId, feature: "image.render" }),
    ]),
  );
  expect(new Set(statusesOf(replies))).toEqual(new Set([200]));
  // The old allowance paid for the 3 settled units. The credits for the fourth unit were released and expired.
  for (const { customerId } of held) expect(await balance(customerId)).toBe(90);
  await expectVerified(database);
});

test("holds that are open during a version or plan change are settled on the terms in force when they were opened", {
  timeout: 600_000,
}, async () => {
  const { at, assign, open, publish, balance, database } = await setupTwo();
  await publish({ key: "max", name: "Max", features: [{ feature: "image.render", limit: null }] });
  for (const round of rounds(10)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const ids = await Promise.all(times(4, () => open({ customerId, feature: "image.render", quantity: 2 })));
    const [, , ...replies] = await Promise.all([
      publish({
        reach: "now",
        allowances: [{ pool: "credits", credits: 100, period: "month", rollover: 0, overage: 0 }],
      }),
      assign(customerId, "max"),
      ...ids.map((holdId, i) => at(i).settle(holdId, { customerId, quantity: 1 })),
    ]);
    for (const reply of replies)
      expect(reply.body).toMatchObject({ creditsCharged: 10, creditsUncovered: 0 });
    // The allowance of the previous plan paid all charges, both those before and those after the change.
    const left = await balance(customerId);
    expect({ round, isWithin: left >= 60 && left <= 100 }).toEqual({ round, isWithin: true });
  }
  expect(await database.count("cell.open_holds")).toBe(0);
  await expectVerified(database);
});
