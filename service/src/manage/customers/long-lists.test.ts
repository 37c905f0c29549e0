import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";

/** Creates `old` customers named `old-1`, `old-2` and so on, then `others` newer customers. */
async function setupLong(old: number, others: number): Promise<Managed> {
  const managed = await setupManage();
  const { database, context } = managed;
  await database.query(
    `with made as (
       insert into cell.customers (environment_id, customer_id, name, created_at)
       select $1, case when n <= $2 then 'old-' || n else 'new-' || n end, 'Name ' || n, clock_timestamp()
       from generate_series(1, $2::integer + $3::integer) as n
       order by n
       returning environment_id, number
     )
     insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
     select m.environment_id, m.number, 0, clock_timestamp(), 0, false, '[1,0,0,null,[],[]]'
     from made as m`,
    [context.environmentId, old, others],
  );
  return managed;
}

/** Reads all pages of the customer list, and counts the pages. */
async function walk({ manage }: Managed, query: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let cursor = ""; ; ) {
    const { status, body } = await manage("GET", `customers?limit=200&${query}${cursor}`);
    expect(status).toBe(200);
    pages += 1;
    const items = body["items"] as { customerId: string }[];
    expect(items.length).toBeLessThanOrEqual(200);
    for (const { customerId } of items) ids.push(customerId);
    if (body["nextCursor"] === null) return { ids, pages };
    cursor = `&cursor=${body["nextCursor"]}`;
  }
}

test("a search that matches many old customers lists each customer once", async () => {
  const managed = await setupLong(1_500, 10_500);
  const { ids, pages } = await walk(managed, "search=OLD-");
  expect(ids).toEqual(Array.from({ length: 1_500 }, (_, i) => `old-${1_500 - i}`));
  expect(pages).toBeLessThan(12);
  // A few matches fit on one page, in the same order and without duplicates.
  expect((await walk(managed, "search=old-77")).ids).toEqual(
    [779, 778, 777, 776, 775, 774, 773, 772, 771, 770, 77].map((n) => `old-${n}`),
  );
  expect((await walk(managed, "search=name%201199")).ids).toHaveLength(11);
});

test("a customer list with a filter that matches no customer ends after a few pages", async () => {
  const managed = await setupLong(2_100, 0);
  const { ids, pages } = await walk(managed, "balanceBelow=0");
  expect([ids, pages]).toEqual([[], 3]);
  expect((await walk(managed, "plan=pro")).ids).toEqual(["ada"]);
  expect((await walk(managed, "balanceBelow=1")).ids).toHaveLength(2_100);
});

test("a blocked customer among thousands is on the first page, in any order", async () => {
  const managed = await setupLong(2_100, 0);
  await managed.manage("POST", "bulk-blocks", {
    body: { customerIds: ["old-7", "old-77", "old-777"], blocked: true },
  });
  expect(await walk(managed, "blocked=true")).toEqual({ ids: ["old-777", "old-77", "old-7"], pages: 1 });
  const byName = await walk(managed, "blocked=true&sort=name_asc");
  expect(byName.ids).toEqual(["old-7", "old-77", "old-777"]);
  expect((await walk(managed, "blocked=true&search=old-77")).ids).toEqual(["old-777", "old-77"]);
  expect((await walk(managed, "blocked=true&plan=pro")).ids).toEqual([]);
  // More than 1,000 blocked customers are found page by page.
  await managed.database.query("update cell.wallets set is_blocked = true");
  expect((await walk(managed, "blocked=true")).ids).toHaveLength(2_101);
});

test("customers with the lowest balances come first, even if there are many newer customers", async () => {
  const managed = await setupLong(0, 1_200);
  const { database, manage, topUp } = managed;
  await database.query("update cell.wallets set balance = 1000 where state = '[1,0,0,null,[],[]]'");
  for (const credits of [50, 3, 500, 5]) await topUp(`with-${credits}`, credits);
  const low = async (query: string) => {
    const { body } = await manage("GET", `customers?sort=balance&balanceBelow=100&${query}`);
    expect(body["nextCursor"]).toBe(null);
    return (body["items"] as { customerId: string }[]).map(({ customerId }) => customerId);
  };
  expect(await low("limit=2")).toEqual(["with-3", "with-5"]);
  expect(await low("limit=50")).toEqual(["with-3", "with-5", "with-50"]);
  // No customer has credits in the second pool, so all lowest balances are 0, and the most recently active customer comes first.
  await manage("PUT", "pools/minutes", { body: { name: "Minutes" } });
  expect(await low("limit=1")).toEqual(["with-5"]);
  expect((await manage("GET", "customers?sort=balance")).status).toBe(400);
  expect((await manage("GET", "customers?sort=balance&balanceBelow=1&search=a")).status).toBe(400);
});

test("with several pools, a low total is found even if many customers were active later", async () => {
  const managed = await setupLong(0, 1_200);
  const { database, manage } = managed;
  await manage("PUT", "pools/minutes", { body: { name: "Minutes" } });
  for (const [customer, credits] of Object.entries({ low: 3, rich: 500 })) {
    for (const pool of ["credits", "minutes"])
      await manage("POST", `customers/${customer}/credits`, { body: { credits, kind: "manual", pool } });
  }
  const ofRich = "from cell.customers as c join cell.wallets as r on r.customer_number = c.number";
  await database.query(
    `update cell.wallets as w
     set balance = r.balance, state = r.state, decided_at = now()
     ${ofRich}
     where c.customer_id = 'rich' and w.state = '[1,0,0,null,[],[]]'`,
  );
  const { body } = await manage("GET", "customers?sort=balance&balanceBelow=100&limit=2");
  expect(body["items"]).toMatchObject([{ customerId: "ada" }, { customerId: "low" }]);
});
