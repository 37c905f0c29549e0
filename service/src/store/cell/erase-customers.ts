import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { hexUuids, uuids } from "../../postgres/binary-array.ts";
import { describeRow, getRow, hexUuid, id, integer, listRows, type RowOf } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import type { CustomerName } from "./customers.ts";
import type { WalletName } from "./wallets.ts";

// Marks a customer whose remaining data must still be erased. The new ID includes the project, because idempotency keys belong to
// projects.
const HIDE = statement(
  "erase.hide_customer",
  `
  update cell.customers
  set
    customer_id = 'erasing:' || $4::integer || ':' || gen_random_uuid(),
    name = null,
    email = null,
    billing_reference = null,
    metadata = null,
    erased_at = clock_timestamp()
  where environment_id = $1
    and customer_id = $2
    and number = $3`,
);

/** Erases the customer's row in `customers`, and makes the ID available again. The caller must hold the wallet lock. */
export function hideCustomer(
  tx: Tx,
  customer: CustomerName & WalletName & { readonly projectId: ProjectId },
): Promise<Rows> {
  const { environmentId, customerId, customerNumber, projectId } = customer;
  return tx.run(HIDE, [environmentId, customerId, customerNumber, projectId]);
}

const HIDDEN = describeRow({
  environmentId: id<EnvironmentId>("c.environment_id"),
  customerNumber: id<CustomerNumber>("c.number"),
  projectId: id<ProjectId>("split_part(c.customer_id, ':', 2)::integer"),
});

export type HiddenCustomer = RowOf<typeof HIDDEN>;

const LIST_HIDDEN = statement(
  "erase.list_hidden_customers",
  `
  select ${HIDDEN.list}
  from cell.customers as c
  where c.erased_at is not null
    and c.customer_id like 'erasing:%'
    and c.erased_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)
  order by c.number
  limit 100`,
);

/** Lists customers who were hidden more than `hiddenMs` ago and whose data may not be fully erased. */
export function listHiddenCustomers(tx: Tx, hiddenMs: number): Promise<HiddenCustomer[]> {
  return listRows(tx, LIST_HIDDEN, [hiddenMs], HIDDEN);
}

const FORGET = statement(
  "erase.forget_customer",
  `
  update cell.customers
  set customer_id = 'erased:' || gen_random_uuid()
  where environment_id = $1
    and number = $2
    and erased_at is not null`,
);

/** Replaces the customer's ID with a random ID. Must be the last step of an erasure. */
export function forgetCustomer(tx: Tx, customer: WalletName): Promise<Rows> {
  return tx.run(FORGET, [customer.environmentId, customer.customerNumber]);
}

const ERASE_GRANTS = statement(
  "erase.grants",
  `
  update cell.grants
  set
    note = null,
    reference = case
      when reference like 'erased:%' then reference
      else cell.erased_reference(reference)
    end
  where environment_id = $1
    and customer_number = $2
    and (note is not null or reference not like 'erased:%')`,
);

/** Erases notes. Replaces references with hashes, which still prevent a reference from being used twice. */
export function eraseGrantText(tx: Tx, customer: WalletName): Promise<Rows> {
  return tx.run(ERASE_GRANTS, [customer.environmentId, customer.customerNumber]);
}

const ERASE_LOG = statement(
  "erase.request_log",
  `
  delete from cell.request_log
  where environment_id = $1
    and id in (
      select l.id
      from cell.request_log as l
      where l.environment_id = $1
        and l.customer_number = $2
      limit $3
    )`,
);

/** Deletes up to `rowsMax` of the customer's log entries. Returns how many were deleted, which is 0 when none remain. */
export async function eraseRequestLog(tx: Tx, customer: WalletName, rowsMax: number): Promise<number> {
  const { environmentId, customerNumber } = customer;
  const { rowCount } = await tx.run(ERASE_LOG, [environmentId, customerNumber, rowsMax]);
  return rowCount;
}

const HASH = hexUuid("k.key_hash");

const LOCK_KEYS = statement(
  "erase.lock_keys",
  `
  select ${HASH.columns}
  from unnest($3::uuid[]) as k (key_hash)
  cross join lateral (
    select q.key
    from cell.keyed_requests as q
    where q.project_id = $1
      and q.environment_id = $2
      and q.key_hash = k.key_hash
      and q.key <> ''
    for update
  ) as q`,
);

const ERASE_KEYS = statement(
  "erase.keys",
  `
  update cell.keyed_requests
  set key = ''
  where project_id = $1
    and environment_id = $2
    and key_hash = any($3::uuid[])`,
);

/**
 * Erases the text of these keys. Their hashes still identify repeated requests. Locks the rows in the same order as a lane. An expired
 * key can be used again in the project's other environment, and then its text is not this customer's.
 */
export async function eraseKeys(
  tx: Tx,
  { projectId, environmentId }: { projectId: ProjectId; environmentId: EnvironmentId },
  keyHashes: readonly ShortHash[],
): Promise<void> {
  const sorted = hexUuids(keyHashes.toSorted());
  const locked = await listRows(tx, LOCK_KEYS, [projectId, environmentId, sorted], HASH);
  if (locked.length > 0) await tx.run(ERASE_KEYS, [projectId, environmentId, hexUuids(locked)]);
}

const EXTENT = describeRow({
  partitions: integer("count(*)"),
  /** The number of pages in the largest partition. */
  pages: integer("coalesce(max(pg_relation_size(t.relid) / current_setting('block_size')::integer), 0)"),
});

const READ_EXTENT = statement(
  "erase.read_extent_of_keys",
  `
  select ${EXTENT.list}
  from pg_partition_tree('cell.keyed_requests') as t
  where t.isleaf`,
);

export function readKeyExtent(tx: Tx): Promise<{ readonly partitions: number; readonly pages: number }> {
  return getRow(tx, READ_EXTENT, [], EXTENT);
}

// Unnamed, so that PostgreSQL makes a query plan for these pages. A generic plan would read the whole table.
const FIND_KEYS_OF_EVENTS = {
  name: "",
  text: `/* erase.find_keys_of_events */
  select ${HASH.columns}
  from cell.keyed_requests as k
  where k.ctid >= $1::tid
    and k.ctid < $2::tid
    and k.project_id = $3
    and k.endpoint = 3
    and k.subject_id = any($4::uuid[])
    and k.key <> ''`,
};

/** Finds the keys of events. Scans pages `from` up to `to` of each partition, because there is no index on the event. */
export function findKeysOfEvents(
  tx: Tx,
  projectId: ProjectId,
  events: readonly Uuid[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ShortHash[]> {
  return listRows(tx, FIND_KEYS_OF_EVENTS, [`(${from},0)`, `(${to},0)`, projectId, uuids(events)], HASH);
}
