import type { Page } from "playwright-core";
import { assert } from "../../service/src/primitives/assert.ts";
import { ageHistory } from "../../service/test/age-history.ts";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";

const RANKS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Eight named customers, more than the chart shows. Each was charged in the middle of last month, and again this month. */
export async function setupLastMonth(): Promise<Managed> {
  const managed = await setupManage();
  const { manage, assign, consume, database } = managed;
  const charge = async (rank: number, quantity: number, key: string): Promise<void> => {
    const body = { customerId: `org_${rank}`, feature: "image.render", quantity, idempotencyKey: key };
    assert((await consume(body)).body["allowed"] === true, "the customer is charged");
  };
  for (const rank of RANKS) {
    await assign(`org_${rank}`);
    await manage("PUT", `customers/org_${rank}`, { body: { name: `Studio ${rank}` } });
  }
  // The lock keeps these charges out of the roll-ups until their times have changed.
  await database.query("begin");
  await database.query("select from cell.usage_progress for update");
  for (const rank of RANKS) await charge(rank, rank, `last-month-${rank}`);
  const now = new Date();
  await ageHistory(database, now.getTime() - Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12));
  await database.query("commit");
  for (const rank of RANKS) await charge(rank, 1, `this-month-${rank}`);
  await settle(managed);
  return managed;
}

/** The lines of the table "By customer": name, ID, share, charges and credits. */
export async function readByCustomer(page: Page): Promise<string[]> {
  const rows = page.getByRole("region", { name: "By customer" }).locator("tbody tr");
  return (await rows.allInnerTexts()).map((text) => text.split(/\s+/).join(" "));
}

/** The same lines for last month, added up from the ledger. */
export async function sumLastMonth({ database }: Managed): Promise<string[]> {
  const rows = await database.query(
    `select
       c.name,
       c.customer_id,
       round(100 * sum(l.amount) / sum(sum(l.amount)) over ()) || '%' as share,
       count(*) as charges,
       -sum(l.amount) as credits
     from cell.ledger as l
     join cell.customers as c on c.environment_id = l.environment_id and c.number = l.customer_number
     where l.kind = 2
       and l.recorded_at >= date_trunc('month', now(), 'UTC') - interval '1 month'
       and l.recorded_at < date_trunc('month', now(), 'UTC')
     group by c.name, c.customer_id
     order by credits desc`,
  );
  return rows.map((row) => Object.values(row).join(" "));
}
