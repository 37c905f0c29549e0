import { sql } from "kysely";
import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../words/brand.ts";
import {
  AUDIT_COLUMNS,
  type AuditFilter,
  type AuditScan,
  type AuditWindow,
  isWithin,
  matches,
  runScan,
} from "../control/audit-scan.ts";
import type { WalletName } from "./wallets.ts";

/** Whose audit: all of an environment, or one customer in it. */
export type AuditSource = {
  readonly environmentId: EnvironmentId;
  readonly customerNumber: CustomerNumber | null;
};

/** Each source is walked along its own index, and the newest of all are taken. */
export function scanAudit(
  tx: Tx,
  sources: readonly AuditSource[],
  window: AuditWindow,
  filter: AuditFilter,
): Promise<AuditScan> {
  const isOfCustomer = sources.some(({ customerNumber }) => customerNumber !== null);
  const environmentIds = sources.map(({ environmentId }) => environmentId).join(",");
  const customerNumbers = sources.map(({ customerNumber }) => customerNumber ?? "").join(",");
  const scan = sql`
    select ${AUDIT_COLUMNS}, a.environment_id, a.customer_number
    from (
      select one.environment_id, one.id
      from unnest(
        string_to_array(${environmentIds}, ',')::integer[],
        string_to_array(${customerNumbers}, ',', '')::bigint[]
      ) as source (environment_id, customer_number)
      cross join lateral (
        select c.environment_id, c.id
        from cell.audit as c
        where c.environment_id = source.environment_id
          and ${isOfCustomer ? sql`c.customer_number = source.customer_number` : sql`true`}
          and ${isWithin("c.id", window)}
        order by c.id desc
        limit ${window.count}
      ) as one
      order by one.id desc
      limit ${window.count}
    ) as s
    left join cell.audit as a
      on a.environment_id = s.environment_id
      and a.id = s.id
      and ${matches(filter)}
    order by s.id desc`;
  return runScan(tx, "audit.scan", scan, window);
}

const FIND_NUMBERS = statement(
  "customers.find_numbers",
  `
  select c.environment_id, c.number
  from cell.customers as c
  where c.environment_id = any($1::integer[])
    and c.customer_id = $2
    and c.erased_at is null`,
);

/** Test and live, or two projects, may both know a customer by the same id. */
export async function findCustomerNumbers(
  tx: Tx,
  environmentIds: readonly EnvironmentId[],
  customerId: CustomerId,
): Promise<WalletName[]> {
  const { rows } = await tx.run(FIND_NUMBERS, [environmentIds, customerId]);
  return rows.map(([environmentId, number]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
  }));
}
