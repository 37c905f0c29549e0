import { bigints, integers } from "../../postgres/binary-array.ts";
import { describeRow, id, listRows } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerId, CustomerNumber, EnvironmentId } from "../../words/brand.ts";
import {
  type AuditFilter,
  type AuditScan,
  type AuditWindow,
  auditRow,
  COUNT,
  IS_WITHIN,
  MATCHES,
  runScan,
} from "../control/audit-scan.ts";
import type { WalletName } from "./wallets.ts";

/** Whose audit: all of an environment, or one customer in it. */
export type AuditSource = {
  readonly environmentId: EnvironmentId;
  readonly customerNumber: CustomerNumber | null;
};

const ROW = auditRow("a.customer_number");

const SCAN = statement(
  "audit.scan",
  `
  select ${ROW.list}
  from (
    select one.environment_id, one.id
    from unnest($7::integer[], $8::bigint[]) as source (environment_id, customer_number)
    cross join lateral (
      select c.environment_id, c.id
      from cell.audit as c
      where c.environment_id = source.environment_id
        and (not $9::boolean or c.customer_number = source.customer_number)
        and ${IS_WITHIN}
      order by c.id desc
      limit ${COUNT}
    ) as one
    order by one.id desc
    limit ${COUNT}
  ) as s
  left join cell.audit as a
    on a.environment_id = s.environment_id
    and a.id = s.id
    and ${MATCHES}
  order by s.id desc`,
);

/** Each source is walked along its own index, and the newest of all are taken. */
export function scanAudit(
  tx: Tx,
  sources: readonly AuditSource[],
  window: AuditWindow,
  filter: AuditFilter,
): Promise<AuditScan> {
  const where = [
    integers(sources.map(({ environmentId }) => environmentId)),
    bigints(sources.map(({ customerNumber }) => customerNumber)),
    sources.some(({ customerNumber }) => customerNumber !== null),
  ];
  return runScan(tx, SCAN, { window, filter, where }, ROW.read);
}

const NAME = describeRow({
  environmentId: id<EnvironmentId>("c.environment_id"),
  customerNumber: id<CustomerNumber>("c.number"),
});

const FIND_NUMBERS = statement(
  "customers.find_numbers",
  `
  select ${NAME.list}
  from cell.customers as c
  where c.environment_id = any($1::integer[])
    and c.customer_id = $2
    and c.erased_at is null`,
);

/** Test and live, or two projects, may both know a customer by the same id. */
export function findCustomerNumbers(
  tx: Tx,
  environmentIds: readonly EnvironmentId[],
  customerId: CustomerId,
): Promise<WalletName[]> {
  return listRows(tx, FIND_NUMBERS, [environmentIds, customerId], NAME);
}
