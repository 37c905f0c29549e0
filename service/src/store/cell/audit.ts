import { bigints, hexUuids, integers, texts, timestamps, uuids } from "../../postgres/binary-array.ts";
import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import { describeRow, id, listRows } from "../../postgres/row.ts";
import { type Parameter, type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import { type Uuid, uuidV7 } from "../../primitives/uuid.ts";
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

export type AuditRow = {
  /** If undefined, a new ID is created. */
  readonly id?: Uuid;
  readonly environmentId: EnvironmentId;
  readonly recordedAt: Instant;
  readonly actor: Actor;
  readonly action: string;
  /** The key or ID of the changed object. Never a customer's ID, because audit entries cannot be erased. */
  readonly subject: string;
  readonly customerNumber: CustomerNumber | null;
  readonly before: object | null;
  readonly after: object | null;
};

const INSERT_ROWS = `
  insert into cell.audit (
    environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, customer_number, before, after
  )
  select
    a.environment_id, a.id, a.recorded_at, a.actor_kind, a.actor_id, a.request_id, a.action, a.subject, a.customer_number,
    a.before::jsonb, a.after::jsonb
  from unnest(
    $1::integer[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
    $10::text[], $11::text[]
  ) as a (
    environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, customer_number, before, after
  )`;

const INSERT = statement("audit.insert", INSERT_ROWS);

export function insertAudits(tx: Tx, rows: readonly AuditRow[]): Promise<Rows> {
  return tx.run(INSERT, columnsOf(rows));
}

/** A change to many customers, made in several transactions. */
export type BulkStart = {
  /** The ID of the start entry. The final entry stores this ID as `startEntry`, the customers' entries store it as `inBulk`. */
  readonly id: Uuid;
  readonly startedAt: Instant;
  /** The action of the final entry. */
  readonly action: string;
};

export const BULK_STARTED = "bulk_change.started";

const INSERT_ONCE = statement(
  "audit.insert_once",
  `${INSERT_ROWS}
  on conflict (environment_id, id) do nothing`,
);

/** Records an entry, unless an earlier transaction has recorded it. */
export function insertAuditOnce(tx: Tx, row: AuditRow & { readonly id: Uuid }): Promise<Rows> {
  return tx.run(INSERT_ONCE, columnsOf([row]));
}

/** Records that a bulk change has started. Each transaction of the change calls this. */
export function insertBulkStart(
  tx: Tx,
  where: Pick<AuditRow, "environmentId" | "actor">,
  { id, startedAt, action }: BulkStart,
): Promise<Rows> {
  const about = { customerNumber: null, before: null, after: null };
  const row = { ...where, ...about, id, recordedAt: startedAt, action: BULK_STARTED, subject: action };
  return insertAuditOnce(tx, row);
}

function columnsOf(rows: readonly AuditRow[]): readonly Parameter[] {
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  return [
    integers(rows.map(({ environmentId }) => environmentId)),
    uuids(rows.map(({ id, recordedAt }) => id ?? uuidV7(recordedAt))),
    timestamps(rows.map(({ recordedAt }) => recordedAt)),
    texts(rows.map(({ actor }) => actor.kind)),
    texts(rows.map(({ actor }) => actor.id)),
    texts(rows.map(({ actor }) => actor.requestId)),
    texts(rows.map(({ action }) => action)),
    texts(rows.map(({ subject }) => subject)),
    bigints(rows.map(({ customerNumber }) => customerNumber)),
    texts(rows.map(({ before }) => json(before))),
    texts(rows.map(({ after }) => json(after))),
  ];
}

/** All entries of an environment, or the entries about one customer. */
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
        and (not $10::boolean or c.after -> 'inBulk' is null)
        and (not $10::boolean or c.action <> '${BULK_STARTED}' or not exists (
          select
          from cell.audit as e
          where e.environment_id = c.environment_id
            and e.after ->> 'startEntry' = c.id::text
        ))
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

/** Scans each source with the index for that source, and merges the newest entries. */
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
    filter.collapsesBulk,
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

/** Finds all customers with this ID. Several environments can have a customer with the same ID. */
export function findCustomerNumbers(
  tx: Tx,
  environmentIds: readonly EnvironmentId[],
  customerId: CustomerId,
): Promise<WalletName[]> {
  return listRows(tx, FIND_NUMBERS, [environmentIds, customerId], NAME);
}

// A grant has the same time as its audit entry, whose ID starts with this time. So the query reads only a few rows per grant.
const FIND_ACTORS = statement(
  "audit.find_actors_of_grants",
  `
  select g.position::integer, a.actor_kind, a.actor_id
  from unnest($2::bigint[], $3::text[], $4::uuid[], $5::uuid[]) with ordinality
    as g (customer_number, subject, from_id, to_id, position)
  cross join lateral (
    select a.actor_kind, a.actor_id
    from cell.audit as a
    where a.environment_id = $1
      and a.customer_number = g.customer_number
      and a.id >= g.from_id
      and a.id < g.to_id
      and a.subject = g.subject
    limit 1
  ) as a`,
);

export type GivenGrant = {
  readonly customerNumber: CustomerNumber;
  readonly number: number;
  readonly recordedAt: Instant;
};

/** An `Actor` without the request ID. */
export type GrantActor = { readonly kind: string; readonly id: string | null };

/** Returns the actor who added each grant, in the order of `grants`. Null for grants without an audit entry, such as allowances. */
export async function findActorsOfGrants(
  tx: Tx,
  environmentId: EnvironmentId,
  grants: readonly GivenGrant[],
): Promise<(GrantActor | null)[]> {
  const { rows } = await tx.run(FIND_ACTORS, [
    environmentId,
    bigints(grants.map(({ customerNumber }) => customerNumber)),
    texts(grants.map(({ number }) => `grant ${number}`)),
    hexUuids(grants.map(({ recordedAt }) => firstIdOf(recordedAt))),
    hexUuids(grants.map(({ recordedAt }) => firstIdOf(brandAs<Instant>(recordedAt + 1)))),
  ]);
  const found: (GrantActor | null)[] = grants.map(() => null);
  for (const [position, kind, id] of rows) {
    found[readInteger(position) - 1] = { kind: readText(kind), id: readNullable(id, readText) };
  }
  return found;
}

/** The lowest UUIDv7 for this millisecond. */
function firstIdOf(at: Instant): string {
  return at.toString(16).padStart(12, "0").padEnd(32, "0");
}
