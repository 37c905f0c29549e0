import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { times } from "../../../test/two-services.ts";

// While a connection to any database of the server is being opened, page pruning may be prevented. Other tests open many
// connections, so this test may need a retry.
test("more than 95% of 1,000 charges are HOT updates of their wallet", {
  retry: 3,
}, async () => {
  const { consume, assign, topUp, database } = await setupCredits();
  const customers = times(5, (i) => `customer-${i}`);
  for (const customer of customers) {
    await assign(customer);
    await topUp(customer, 100);
  }
  const before = await readUpdates();
  for (let round = 0; round < 200; round++) {
    const replies = await Promise.all(
      customers.map((customerId) =>
        consume({ customerId, feature: "text.generate", idempotencyKey: `${customerId}-${round}` }),
      ),
    );
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  }
  const charges = await database.count("cell.ledger", "kind = 2");
  expect(charges).toBe(1_000);
  // A session reports statistics at the end of a transaction, at most once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await consume({ customerId: "customer-0", feature: "export", idempotencyKey: "last" });
  const after = await readUpdates();
  expect(after.updates - before.updates).toBeGreaterThanOrEqual(charges);
  const share = (after.hot - before.hot) / (after.updates - before.updates);
  expect(share).toBeGreaterThan(0.95);

  async function readUpdates(): Promise<{ updates: number; hot: number }> {
    const [row] = await database.query(
      "select n_tup_upd::integer as updates, n_tup_hot_upd::integer as hot from pg_stat_user_tables where relname = 'wallets'",
    );
    return { updates: Number(row?.["updates"]), hot: Number(row?.["hot"]) };
  }
});
