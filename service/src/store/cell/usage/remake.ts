import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import type { ExpectedRange } from "./expected.ts";
import { OF_ANY_ENVIRONMENT } from "./months.ts";

// A day's sums anew, from what `usage_expected` holds of it. The progress must be locked.

const MAKE_METERS = statement(
  "usage_remake.make_meters",
  `
  insert into cell.meters (environment_id, kind, key, feature_id, pool_id, reason)
  select distinct e.environment_id, e.kind, e.key, e.feature_id, e.pool_id, e.reason
  from pg_temp.usage_expected as e
  on conflict on constraint meters_key_key do nothing`,
);

const DELETE_QUARTERS = statement(
  "usage_remake.delete_quarters",
  `
  delete from cell.usage_quarters
  where ${OF_ANY_ENVIRONMENT}
    and quarter >= $1::timestamptz
    and quarter < $2::timestamptz`,
);

const DELETE_CUSTOMER_QUARTERS = statement(
  "usage_remake.delete_customer_quarters",
  `
  delete from cell.usage_customer_quarters
  where ${OF_ANY_ENVIRONMENT}
    and quarter >= $1::timestamptz
    and quarter < $2::timestamptz`,
);

const INSERT_CUSTOMER_QUARTERS = statement(
  "usage_remake.insert_customer_quarters",
  `
  insert into cell.usage_customer_quarters
    (environment_id, quarter, customer_number, meter_id, count, quantity, credits)
  select e.environment_id, e.quarter, e.customer_number, m.id, e.count, e.quantity, e.credits
  from pg_temp.usage_expected as e
  join cell.meters as m on m.environment_id = e.environment_id and m.kind = e.kind and m.key = e.key
  order by e.environment_id, e.quarter, e.customer_number, m.id`,
);

const INSERT_QUARTERS = statement(
  "usage_remake.insert_quarters",
  `
  insert into cell.usage_quarters (environment_id, quarter, meter_id, count, quantity, credits)
  select environment_id, quarter, meter_id, sum(count), sum(quantity), sum(credits)
  from cell.usage_customer_quarters
  where ${OF_ANY_ENVIRONMENT}
    and quarter >= $1::timestamptz
    and quarter < $2::timestamptz
  group by environment_id, quarter, meter_id`,
);

export async function remakeQuarters(tx: Tx, { from, to }: ExpectedRange): Promise<Rows> {
  await tx.run(MAKE_METERS);
  await tx.run(DELETE_CUSTOMER_QUARTERS, [from, to]);
  await tx.run(DELETE_QUARTERS, [from, to]);
  await tx.run(INSERT_CUSTOMER_QUARTERS);
  return tx.run(INSERT_QUARTERS, [from, to]);
}
