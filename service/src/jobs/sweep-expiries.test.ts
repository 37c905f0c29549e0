import { expect, test } from "vitest";
import { expectSoundBooks } from "../../test/books.ts";
import { type Credits, setupCredits } from "../../test/credits.ts";
import { ADA, TOP_UP } from "../../test/customers.ts";
import { connectTo } from "../../test/harness.ts";
import { expectVerified, expireHolds, openHolds, windBackHolds } from "../../test/holds.ts";
import { setupOverage } from "../../test/overage.ts";
import { countAllowed, times } from "../../test/two-services.ts";
import { DAY_MS, windBack } from "../../test/wind-back.ts";
import { addCredits } from "../manage/credits/add-credits.ts";
import { brandAs, type CustomerId, type Instant } from "../primitives/brand.ts";
import { sweepExpiries } from "./sweep-expiries.ts";

/** Adds 500 purchased credits that expire in a day. */
async function buy({ cell, context }: Credits, customerId = ADA): Promise<void> {
  const expiresAt = brandAs<Instant>(Date.now() + DAY_MS);
  await addCredits(cell, context, { ...TOP_UP, customerId, credits: 500, expiresAt });
}

/** Runs a whole sweep. The service's own job may perform some of its steps. */
async function sweep({ database, cell }: Pick<Credits, "database" | "cell">): Promise<void> {
  await database.query(
    "update cell.sweeps set position = null, rests_until = 'epoch' where name = 'expiries'",
  );
  const isAtRest = async () => {
    await sweepExpiries(cell, { walletsMax: 2 });
    return database.count("cell.sweeps", "name = 'expiries' and position is null and rests_until > now()");
  };
  await expect.poll(isAtRest, { interval: 5 }).toBe(1);
}

const lastEntries = ({ database }: Credits) =>
  database.query(
    "select kind, amount::integer, balance_after::integer as balance from cell.ledger order by customer_number, sequence desc limit 2",
  );

test("due expiries of an idle wallet are written with their expiry time, and nothing is granted", async () => {
  const credits = await setupCredits();
  const { database, assign, check } = credits;
  for (const customer of ["b", "c", "d", "e"]) await assign(customer);
  await buy(credits);
  await sweep(credits);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(0);
  await windBack(database, 40 * DAY_MS);
  const granted = await database.count("cell.ledger", "kind = 1");
  await sweep(credits);
  await sweep(credits);
  // The 500 credits expire first, then the allowance at the end of its period. The next request grants the next allowance.
  expect(await lastEntries(credits)).toEqual([
    { kind: 3, amount: -100, balance: 0 },
    { kind: 3, amount: -500, balance: 100 },
  ]);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(6);
  expect(await database.count("cell.ledger", "kind = 1")).toBe(granted);
  expect(
    await database.count("cell.ledger", "kind = 3 and effective_at > recorded_at - interval '41 days'"),
  ).toBe(6);
  expect((await check({ customerId: "ada", feature: "image.render" })).body["balance"]).toBe(100);
  await expectSoundBooks(database);
});

test("a locked wallet is skipped, and swept by the next sweep", async () => {
  const credits = await setupCredits();
  const { database } = credits;
  await buy(credits);
  await windBack(database, 2 * DAY_MS);
  const client = await connectTo(database);
  await client.query("begin");
  await client.query("select from cell.wallets for update");
  await sweep(credits);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(0);
  await client.query("commit");
  await sweep(credits);
  expect(await lastEntries(credits)).toMatchObject([{ kind: 3, amount: -500, balance: 100 }, {}]);
});

test("with concurrent sweeps and consume requests, each grant expires once and 10 of 50 requests are allowed", async () => {
  const credits = await setupCredits();
  const { database, consume } = credits;
  await buy(credits);
  await windBack(database, 2 * DAY_MS);
  const consumes = times(50, (i) =>
    consume({ customerId: "ada", feature: "image.render", idempotencyKey: `k-${i}` }),
  );
  const sweeps = times(5, () => sweepExpiries(credits.cell, { restMs: 0 }));
  expect(countAllowed(await Promise.all(consumes))).toBe(10);
  await Promise.all(sweeps);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(1);
  await expectSoundBooks(database);
});

test.each([
  ["that cannot be read", "'[1, 2'"],
  ["with an unknown plan", "jsonb_set(state::jsonb, '{3,2}', '999')::text"],
])("a wallet %s is counted as unreadable, and all other wallets are swept", async (_, damage) => {
  const credits = await setupCredits();
  const { database, cell } = credits;
  await buy(credits, brandAs<CustomerId>("damaged"));
  await credits.assign("damaged");
  await buy(credits);
  await database.query("update cell.sweeps set rests_until = now() + interval '20 hours'");
  await windBack(database, 2 * DAY_MS);
  await database.query(
    `update cell.wallets set state = ${damage} where customer_number = (select number from cell.customers where customer_id = 'damaged')`,
  );
  let unreadable = 0;
  await expect
    .poll(async () => {
      await database.query("update cell.sweeps set rests_until = 'epoch' where name = 'expiries'");
      unreadable += (await sweepExpiries(cell)).unreadable;
      return unreadable;
    })
    .toBeGreaterThan(0);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(1);
});

const CHARGED = { feature: "image.render", onExpiry: "charge" };

test("a hold that contains only overage is charged when it ends, even if the customer has no credits", async () => {
  const credits = await setupOverage(50);
  const { database, consume, open } = credits;
  expect((await consume({ feature: "image.render", quantity: 10 })).body).toMatchObject({ balance: 0 });
  await open({ ...CHARGED, quantity: 3 });
  await expireHolds(database);
  await sweep(credits);
  expect(await database.count("cell.ledger", "kind = 2 and overage = 30 and hold_number = 1")).toBe(1);
  await expectVerified(database);
});

test("a hold is charged when it ends, even if a new period has begun", async () => {
  const credits = await setupCredits();
  const { database, publish, assign } = credits;
  const allowances = [{ pool: "credits", credits: 50, period: "day" as const, rollover: 0, overage: 0 }];
  await publish({ key: "daily", name: "Daily", allowances });
  await assign("ada", "daily");
  await openHolds(credits).open({ ...CHARGED, quantity: 2, expiresInSeconds: 86_400 });
  await windBackHolds(database, 26 * 3_600_000);
  await sweep(credits);
  expect(await database.count("cell.ledger", "kind = 2 and amount = -20 and hold_number = 1")).toBe(1);
  await expectVerified(database);
});
