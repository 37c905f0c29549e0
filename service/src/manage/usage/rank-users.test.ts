import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { ask, settle } from "../../../test/usage.ts";

const RANKINGS = ["usage/customers?source=events", "usage?source=events&groupBy=customer"];

test.each([
  ["a ranking", "usage_customer_days"],
  ["the total after the ranking", "usage_buckets"],
])("a timeout in %s returns a 400 for the range", async (_, table) => {
  const managed = await setupManage();
  const { database, manage, record } = managed;
  await record({ customerId: "ada", event: "e", quantity: 2 });
  await settle(managed);
  for (const path of RANKINGS) await ask(managed, path);
  // Simulates a very large table.
  await database.query(
    `alter table cell.${table} rename to all_of_it;
     create view cell.${table} as select t.* from cell.all_of_it as t where pg_sleep(10) is not null;
     grant select on cell.${table} to public`,
  );
  const replies = await Promise.all(RANKINGS.map((path) => manage("GET", path)));
  for (const reply of replies)
    expect(reply).toMatchObject({
      status: 400,
      body: { errors: [{ field: "from", code: "too_long" }] },
    });
});
