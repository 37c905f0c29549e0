import { expect, test } from "vitest";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { OLD_TIMER } from "../../../test/customers.ts";
import type { Reply } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { assignPlan } from "../../manage/customers/assign-plan.ts";

// During a rolling deploy, processes from the previous release run on the new schema. They create customers without a
// wallet, and cannot read a wallet in a newer format.

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const RENDER = { customerId: OLD_TIMER, feature: "image.render", idempotencyKey: "key-1" };

test("a charge to a customer without a wallet, created by the previous release, succeeds", async () => {
  const credits = await setupCredits({ LANES: "1" });
  await recordAsBefore(credits);
  const consume = credits.consume(RENDER);
  const reply = await Promise.race([consume, pause(4_000).then((): Reply | null => null)]);
  // The transaction must always end, because otherwise the service could not stop.
  await giveWallet(credits);
  await consume;
  expect(reply?.body).toMatchObject({ allowed: false, reason: "no_active_plan", balance: 0 });
});

test("a customer without a wallet, created by the previous release, can be assigned a plan", async () => {
  const credits = await setupCredits();
  const { cell, context, consume } = credits;
  await recordAsBefore(credits);
  const outcome = await assignPlan(cell, context, { customerId: OLD_TIMER, plan: "pro", anchor: null });
  expect(outcome).toEqual({ kind: "changed" });
  expect((await consume(RENDER)).body).toMatchObject({ allowed: true, balance: 90 });
});

test("a wallet in a newer format makes only its own customer's consume requests fail", async () => {
  const credits = await setupCredits({ LANES: "1" });
  await credits.assign("bob");
  await spoilWallet(credits);
  const ask = (customerId: string, i: number) =>
    credits.consume({ customerId, feature: "export", idempotencyKey: `key-${i}` });
  expect(await askBoth(ask)).toEqual(new Set(["ada refused", "bob served"]));
});

test("a wallet in a newer format makes only its own customer's checks fail", async () => {
  const credits = await setupCredits();
  await credits.assign("bob");
  await spoilWallet(credits);
  const ask = (customerId: string) => credits.check({ customerId, feature: "export" });
  expect(await askBoth(ask)).toEqual(new Set(["ada refused", "bob served"]));
});

async function askBoth(ask: (customerId: string, i: number) => Promise<Reply>): Promise<Set<string>> {
  const heard = times(60, async (i) => {
    await pause(10 * i);
    const customerId = i % 20 === 0 ? "ada" : "bob";
    const { status } = await ask(customerId, i);
    return `${customerId} ${status < 500 ? "served" : "refused"}`;
  });
  return new Set(await Promise.all(heard));
}

async function recordAsBefore({ database, context }: Credits): Promise<void> {
  await database.query(
    "insert into cell.customers (environment_id, customer_id, created_at) values ($1, $2, now())",
    [context.environmentId, OLD_TIMER],
  );
}

async function giveWallet({ database }: Credits): Promise<void> {
  await database.query(`
    insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
    select c.environment_id, c.number, 0, c.created_at, 0, false, '[1,0,0,null,[],[]]'
    from cell.customers as c
    on conflict on constraint wallets_pkey do nothing`);
}

async function spoilWallet({ database }: Credits): Promise<void> {
  await database.query(
    `update cell.wallets set state = '[2,0,0,null,[],[],[]]'
     where customer_number = (select number from cell.customers where customer_id = 'ada')`,
  );
}
