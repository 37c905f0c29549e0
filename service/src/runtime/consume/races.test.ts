import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { post, type Reply } from "../../../test/harness.ts";
import { rounds } from "../../../test/rounds.ts";
import { countAllowed, setupTwo, times } from "../../../test/two-services.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";
import { addCredits } from "../../manage/credits/add-credits.ts";
import { assignPlan } from "../../manage/customers/assign-plan.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";

const ADA = brandAs<CustomerId>("ada");

test("with credits for 10, exactly 10 of 50 concurrent consume requests through two processes are allowed", {
  timeout: 600_000,
}, async () => {
  const { assign, renderAt, database } = await setupTwo();
  for (const round of rounds(20)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const replies = await Promise.all(times(50, (i) => renderAt(i, { customerId })));
    expect({ round, allowed: countAllowed(replies) }).toEqual({ round, allowed: 10 });
    const balances = replies.filter(({ body }) => body["allowed"]).map(({ body }) => Number(body["balance"]));
    expect(balances.sort((a, b) => a - b)).toEqual(times(10, (i) => 10 * i));
  }
  await expectSoundBooks(database);
});

test("with a limit of 5, exactly 5 of 50 concurrent consume requests are allowed", {
  timeout: 600_000,
}, async () => {
  const { assign, consumeAt, database } = await setupTwo();
  for (const round of rounds(5)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const replies = await Promise.all(
      times(50, (i) => consumeAt(i, { customerId, feature: "export", idempotencyKey: `${round}-${i}` })),
    );
    expect({ round, allowed: countAllowed(replies) }).toEqual({ round, allowed: 5 });
  }
  await expectSoundBooks(database);
});

test("concurrent charges spend four grants exactly to 0, in spending order", async () => {
  const { cell, context, renderAt, database } = await setupTwo();
  const inDays = (days: number): Instant => brandAs<Instant>(Date.now() + days * DAY_MS);
  const add = (kind: "purchase" | "manual" | "promotion", credits: number, expiresAt: Instant | null) =>
    addCredits(cell, context, {
      customerId: ADA,
      pool: "credits",
      kind,
      credits,
      expiresAt,
      reference: null,
      price: null,
      note: null,
    });
  // Grant 1 is the allowance of 100, which expires in about 30 days.
  await add("purchase", 13, null);
  await add("manual", 37, inDays(1));
  await add("promotion", 54, inDays(7));
  const replies = await Promise.all(times(60, (i) => renderAt(i)));
  expect(countAllowed(replies)).toBe(20);
  // 4 credits are left, enough for one of these.
  const last = times(5, (i) => renderAt(i, { feature: "text.generate", quantity: 1_333 }));
  expect(countAllowed(await Promise.all(last))).toBe(1);
  expect(await database.query("select balance from cell.wallets")).toEqual([{ balance: "0" }]);

  const entries = await database.query("select parts from cell.ledger where kind = 2 order by sequence");
  const burned = entries.flatMap(({ parts }) =>
    String(parts)
      .split(",")
      .map((part) => Number(part.split(":")[0])),
  );
  const order = [3, 4, 1, 2];
  expect(burned).toEqual(burned.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  expect(new Set(burned)).toEqual(new Set(order));
  await expectSoundBooks(database);
});

test("after a month ends, 100 concurrent requests renew the allowance once", async () => {
  const { renderAt, database } = await setupTwo();
  expect(countAllowed(await Promise.all(times(20, (i) => renderAt(i))))).toBe(10);
  for (const months of [1, 2, 3]) {
    await windBack(database, 32 * DAY_MS);
    expect(countAllowed(await Promise.all(times(100, (i) => renderAt(i))))).toBe(10);
    expect(await database.count("cell.grants")).toBe(1 + months);
  }
  await expectSoundBooks(database);
});

test("when a period ends during concurrent requests, the old and the new period each grant their credits once", async () => {
  const { cell, context, renderAt, database } = await setupTwo();
  const end = Date.now() + 1_500;
  const customerId = brandAs<CustomerId>("bob");
  // The anchor in the future determines the period boundaries: this period is nearly over.
  await assignPlan(cell, context, { customerId, plan: "pro", anchor: brandAs<Instant>(end) });
  const replies: Reply[] = [];
  while (Date.now() < end + 300)
    replies.push(...(await Promise.all(times(20, (i) => renderAt(i, { customerId })))));
  countAllowed(replies);
  const allowed = replies.filter(({ body }) => body["allowed"]).map(({ body }) => body["resetsAt"]);
  const before = allowed.filter((resetsAt) => resetsAt === new Date(end).toISOString());
  expect({ before: before.length, after: allowed.length - before.length }).toEqual({ before: 10, after: 10 });
  // One grant for ada, two for bob.
  expect(await database.count("cell.grants")).toBe(3);
  await expectSoundBooks(database);
});

test("two processes that concurrently create a customer with the default plan create one customer, wallet and allowance", async () => {
  const { cell, context, renderAt, database } = await setupTwo();
  await setDefaultPlan(cell, context, { plan: "pro" });
  for (const round of rounds(3)) {
    const replies = await Promise.all(
      times(160, (i) => renderAt(i, { customerId: `new-${round}-${Math.floor(i / 16)}`, quantity: 1 })),
    );
    expect(countAllowed(replies)).toBe(100);
    const count = 10 * (round + 1);
    expect(await database.count("cell.customers", "customer_id like 'new-%'")).toBe(count);
    expect(await database.count("cell.wallets")).toBe(count + 1);
    expect(await database.count("cell.grants")).toBe(count + 1);
  }
  await expectSoundBooks(database);
});

test("100 concurrent requests with the same key in two processes are charged once and get the same response", async () => {
  const { renderAt, database } = await setupTwo();
  for (const round of rounds(10)) {
    const replies = await Promise.all(times(100, (i) => renderAt(i, { idempotencyKey: `copy-${round}` })));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]?.body).toMatchObject({ allowed: round < 10 });
    expect(replies.filter(({ headers }) => !headers.has("idempotent-replayed"))).toHaveLength(1);
    expect(await database.count("cell.ledger", "kind = 2")).toBe(Math.min(10, round + 1));
  }
  await expectSoundBooks(database);
});

test("if concurrent consume and event requests use the same key, one endpoint accepts it and the other returns 409", async () => {
  const { renderAt, urls, project, database } = await setupTwo();
  for (const round of rounds(5)) {
    const idempotencyKey = `contested-${round}`;
    const event = { customerId: "ada", event: "image.render", quantity: 1, idempotencyKey };
    const replies = await Promise.all(
      times(20, (i) =>
        i % 4 < 2
          ? renderAt(i, { idempotencyKey })
          : post(`${urls[i % 2]}/v1/events`, project.test.key.secret, event),
      ),
    );
    const served = replies.filter(({ status }) => status === 200);
    expect(served).toHaveLength(10);
    expect(new Set(served.map(({ text }) => text)).size).toBe(1);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const { body } of refused) expect(body).toMatchObject({ status: 409, conflict: "endpoint" });
    const stored = (await database.count("cell.events")) + (await database.count("cell.ledger", "kind = 2"));
    expect(stored + (await database.count("cell.denials"))).toBe(round + 1);
  }
});
