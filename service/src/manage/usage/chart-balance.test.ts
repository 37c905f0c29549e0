import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { ask } from "../../../test/usage.ts";

const DAY_MS = 24 * 3_600_000;

test("each pool has its own balance history, even if its balance rarely changes", async () => {
  const managed = await setupManage();
  const { manage, consume, database } = managed;
  expect((await manage("PUT", "pools/seconds", { body: { name: "Seconds" } })).status).toBe(200);
  const add = (pool: string, credits: number) =>
    manage("POST", "customers/ada/credits", { body: { pool, credits, kind: "manual", note: "n" } });
  const use = (key: number) =>
    consume({ customerId: "ada", feature: "image.render", idempotencyKey: `k-${key}` });
  await add("credits", 1_000);
  for (let i = 0; i < 24; i++) {
    if (i === 6 || i === 7 || i === 19) expect((await add("seconds", 10 + i)).status).toBe(200);
    await use(i);
  }
  await database.query("alter table cell.ledger disable trigger user");
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  // Three entries a day.
  await database.query(
    "update cell.ledger set recorded_at = date_trunc('day', now(), 'UTC') - interval '12 days' + sequence * interval '8 hours', effective_at = null",
  );
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const range = [-14, 1].map((days) => new Date(midnight + days * DAY_MS).toISOString());
  type History = { opening: number; points: { at: string; balance: number }[] };
  for (const pool of ["credits", "seconds"]) {
    const path = `customers/ada/balance-history?pool=${pool}&from=${range[0]}&to=${range[1]}`;
    const { opening, points } = await ask<History>(managed, path);
    expect(opening).toBe(0);
    const rows = await database.query(
      `select coalesce(sum(l.amount) filter (where l.recorded_at < d.at + interval '24 hours'), 0)::integer as balance
       from generate_series($1::timestamptz, $2::timestamptz - interval '24 hours', interval '24 hours') as d (at)
       cross join cell.ledger as l
       join cell.pools as p on p.environment_id = l.environment_id and p.id = l.pool_id
       where p.key = $3
       group by d.at order by d.at`,
      [...range, pool],
    );
    expect({ pool, balances: points.map(({ balance }) => balance) }).toEqual({
      pool,
      balances: rows.map(({ balance }) => balance),
    });
  }
});
