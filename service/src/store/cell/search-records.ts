import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { integers } from "../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  findRow,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
  uuid,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../primitives/brand.ts";
import { readConsumeId } from "../../primitives/consume-id.ts";
import type { HoldId } from "../../primitives/hold-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { reasonOf } from "./denials.ts";
import { endpointOf } from "./keyed-requests.ts";
import type { SearchScope } from "./search.ts";
import { grantKindOf } from "./wallet-state.ts";

const ofCustomer = (row: string, number: string, column: "customer_id" | "name") =>
  orNull(
    text(`(
    select c.${column}
    from cell.customers as c
    where c.environment_id = ${row}.environment_id
      and c.number = ${row}.${number}
      and c.erased_at is null
  )`),
  );

/** Null if the customer was erased. */
const customer = (row: string, number = "customer_number") => ({
  customerId: ofCustomer(row, number, "customer_id"),
  customerName: ofCustomer(row, number, "name"),
});

const GRANT = describeRow({
  environmentId: id<EnvironmentId>("g.environment_id"),
  /** When the grant was recorded. */
  at: instant("g.recorded_at"),
  ...customer("g"),
  grant: integer("g.number"),
  kind: derive(integer("g.kind"), grantKindOf),
  credits: integer("g.credits"),
  reference: text("g.reference"),
  movedTo: orNull(describeRow({ grant: integer("g.to_grant"), ...customer("g", "to_customer") })),
});

export type FoundGrant = RowOf<typeof GRANT>;

const FIND_GRANTS = statement(
  "search.find_grants",
  `
  select ${GRANT.list}
  from unnest($1::integer[]) as e (id)
  cross join lateral (
    select
      g.environment_id, g.recorded_at, g.customer_number, g.number, g.kind, g.credits, g.reference,
      m.to_customer, m.to_grant
    from cell.grants as g
    left join cell.grant_moves as m
      on m.environment_id = g.environment_id
      and m.from_customer = g.customer_number
      and m.from_grant = g.number
    where g.environment_id = e.id
      and g.reference = $2
  ) as g
  order by g.recorded_at desc
  limit $3`,
);

/** Finds grants by a payment's reference, which is unique in an environment. */
export function findGrantsByReference(
  tx: Tx,
  { environments, limit }: SearchScope,
  reference: string,
): Promise<FoundGrant[]> {
  return listRows(tx, FIND_GRANTS, [integers(environments), reference, limit], GRANT);
}

const USE = describeRow({
  environmentId: id<EnvironmentId>("q.environment_id"),
  recordedAt: instant("q.recorded_at"),
  endpoint: derive(integer("q.endpoint"), endpointOf),
  subjectId: uuid("q.subject_id"),
});

const FIND_KEYS = statement(
  "search.find_keys",
  `
  select ${USE.list}
  from unnest($1::integer[]) as p (id)
  cross join lateral (
    select q.environment_id, q.recorded_at, q.endpoint, q.subject_id
    from cell.keyed_requests as q
    where q.project_id = p.id
      and q.key_hash = $2
  ) as q
  where q.environment_id = any($3::integer[])
  limit $4`,
);

export type FoundUse = Omit<RowOf<typeof USE>, "subjectId"> & {
  /** When the record was written, or when the event occurred. */
  readonly at: Instant;
};

export async function findUsesOfKey(
  tx: Tx,
  { projects, ...scope }: SearchScope & { readonly projects: readonly ProjectId[] },
  keyHash: ShortHash,
): Promise<FoundUse[]> {
  const { environments, limit } = scope;
  const uses = await listRows(
    tx,
    FIND_KEYS,
    [integers(projects), keyHash, integers(environments), limit],
    USE,
  );
  const found: FoundUse[] = [];
  // Each project has used the key at most once.
  for (const { subjectId, ...use } of uses)
    found.push({
      ...use,
      at: use.endpoint === "events" ? await findEventTime(tx, scope, subjectId) : use.recordedAt,
    });
  return found;
}

/**
 * Finds the time by the event's ID. If an event was written again after an unknown outcome, the event keeps its first time, but its key has
 * the second time. An event that no longer exists gets time 0, which is outside every history window.
 */
async function findEventTime(tx: Tx, scope: SearchScope, eventId: Uuid): Promise<Instant> {
  return (await findRecordById(tx, "event", scope, eventId))?.at ?? brandAs<Instant>(0);
}

const ofFeature = (column: "key" | "name") => `(
    select f.${column}
    from cell.features as f
    where f.environment_id = r.environment_id
      and f.id = r.feature_id
  )`;

const FEATURE = { subject: ofFeature("key"), name: ofFeature("name") };

type RecordColumns = {
  readonly at: string;
  readonly subject: string;
  readonly name: string;
  readonly reason: string;
};

const recordRow = ({ at, subject, name, reason }: RecordColumns) =>
  describeRow({
    environmentId: id<EnvironmentId>("r.environment_id"),
    /** When the record was written, or when the event occurred. */
    at: instant(at),
    ...customer("r"),
    /** The feature's or the event's key. */
    subject: text(subject),
    /** The feature's name. Null for an event. */
    name: orNull(text(name)),
    quantity: integer("r.quantity"),
    /** Set for a denial. */
    reason: orNull(derive(integer(reason), reasonOf)),
  });

/** A charge, denial or event found by its ID. */
export type FoundRecord = RowOf<ReturnType<typeof recordRow>> & { readonly id: Uuid };

const CHARGE = recordRow({ at: "r.recorded_at", ...FEATURE, reason: "null" });
const DENIAL = recordRow({ at: "r.recorded_at", ...FEATURE, reason: "r.reason" });
const EVENT = recordRow({ at: "r.occurred_at", subject: "r.event", name: "null", reason: "null" });

const FIND_CHARGE = statement(
  "search.find_charge",
  `
  select ${CHARGE.list}
  from cell.ledger as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.customer_number = $3
    and r.sequence = $4
    -- The first charge of a request names it.
    and coalesce(r.item, 0) = 0
    and r.kind = 2`,
);

const FIND_DENIAL = statement(
  "search.find_denial",
  `
  select ${DENIAL.list}
  from cell.denials as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.id = $3`,
);

const FIND_EVENT = statement(
  "search.find_event",
  `
  select ${EVENT.list}
  from cell.events as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.id = $3`,
);

const FOUND_HOLD = describeRow({
  environmentId: id<EnvironmentId>("r.environment_id"),
  at: instant("r.opened_at"),
  ...customer("r"),
});

const FIND_HOLD = statement(
  "search.find_hold",
  `
  select ${FOUND_HOLD.list}
  from cell.hold_changes as r
  where r.environment_id = any($1::integer[])
    and r.customer_number = $2
    and r.hold_number = $3
    and r.opened_at = $4
  limit 1`,
);

/** Finds a hold by its ID. */
export function findHoldById(
  tx: Tx,
  { environments }: SearchScope,
  { customerNumber, number, openedAt }: HoldId,
): Promise<RowOf<typeof FOUND_HOLD> | null> {
  const parameters = [integers(environments), customerNumber, number, formatTimestamp(openedAt)];
  return findRow(tx, FIND_HOLD, parameters, FOUND_HOLD);
}

export type RecordKind = "charge" | "denial" | "event";

/** Finds a record by its ID, which contains the time it was recorded. */
export async function findRecordById(
  tx: Tx,
  kind: RecordKind,
  { environments }: SearchScope,
  recordId: Uuid,
): Promise<FoundRecord | null> {
  const recordedAt = formatTimestamp(brandAs<Instant>(recordId.readUIntBE(0, 6)));
  const where = [integers(environments), recordedAt];
  const { customerNumber, sequence } = readConsumeId(recordId);
  const hex = recordId.toString("hex");
  const found =
    kind === "charge"
      ? await findRow(tx, FIND_CHARGE, [...where, customerNumber, sequence], CHARGE)
      : kind === "denial"
        ? await findRow(tx, FIND_DENIAL, [...where, hex], DENIAL)
        : await findRow(tx, FIND_EVENT, [...where, hex], EVENT);
  return found === null ? null : { ...found, id: recordId };
}
