import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { GrantKind } from "../../entitlement/wallet.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readBytes, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../words/brand.ts";
import { readConsumeId } from "../../words/consume-id.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { Uuid } from "../../words/uuid.ts";
import { reasonOf } from "./denials.ts";
import { ENDPOINT_NUMBER, type Endpoint } from "./keyed-requests.ts";
import type { SearchScope } from "./search.ts";
import { grantKindOf } from "./wallet-state.ts";

type Found = {
  readonly environmentId: EnvironmentId;
  /** When it was recorded; of an event its own time. */
  readonly at: Instant;
  /** Null: erased since. */
  readonly customerId: string | null;
};

export type FoundGrant = Found & {
  readonly grant: number;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly reference: string;
};

const CUSTOMER_ID = (row: string): string => `(
    select c.customer_id
    from cell.customers as c
    where c.environment_id = ${row}.environment_id
      and c.number = ${row}.customer_number
      and c.erased_at is null
  )`;

const FIND_GRANTS = statement(
  "search.find_grants",
  `
  select
    g.environment_id,
    (extract(epoch from g.recorded_at) * 1000)::bigint,
    ${CUSTOMER_ID("g")},
    g.number,
    g.kind,
    g.credits,
    g.reference
  from unnest($1::integer[]) as e (id)
  cross join lateral (
    select
      g.environment_id, g.recorded_at, g.customer_number, g.number, g.kind, g.credits, g.reference
    from cell.grants as g
    where g.environment_id = e.id
      and g.reference = $2
  ) as g
  order by g.recorded_at desc
  limit $3`,
);

/** By a payment's id, which names one grant of an environment. */
export async function findGrantsByReference(
  tx: Tx,
  { environments, limit }: SearchScope,
  reference: string,
): Promise<FoundGrant[]> {
  const { rows } = await tx.run(FIND_GRANTS, [integers(environments), reference, limit]);
  return rows.map((row) => ({
    ...readFound(row),
    grant: readInteger(row[3]),
    kind: grantKindOf(readInteger(row[4])),
    credits: readInteger(row[5]),
    reference: readText(row[6]),
  }));
}

export type FoundUse = {
  readonly environmentId: EnvironmentId;
  /** Of what was asked: of an event its own time. */
  readonly at: Instant;
  readonly recordedAt: Instant;
  readonly endpoint: Endpoint;
};

const FIND_KEYS = statement(
  "search.find_keys",
  `
  select
    q.environment_id,
    (extract(epoch from q.recorded_at) * 1000)::bigint,
    q.endpoint,
    uuid_send(q.subject_id)
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

export async function findUsesOfKey(
  tx: Tx,
  { projects, ...scope }: SearchScope & { readonly projects: readonly ProjectId[] },
  keyHash: ShortHash,
): Promise<FoundUse[]> {
  const { environments, limit } = scope;
  const { rows } = await tx.run(FIND_KEYS, [integers(projects), keyHash, integers(environments), limit]);
  const uses: FoundUse[] = [];
  // A key is used once in a project.
  for (const [environment, recorded, number, subjectId] of rows) {
    const environmentId = brandAs<EnvironmentId>(readInteger(environment));
    const recordedAt = readInstant(recorded);
    const isEvent = readInteger(number) === ENDPOINT_NUMBER.events;
    const at = isEvent ? await findEventTime(tx, scope, readBytes(subjectId)) : recordedAt;
    uses.push({ environmentId, at, recordedAt, endpoint: isEvent ? "events" : "consume" });
  }
  return uses;
}

/**
 * By its id: written a second time, after an unknown outcome, it keeps its first time, and its key has the second. One that is
 * nowhere any more is of no known time, and so within no window.
 */
async function findEventTime(tx: Tx, scope: SearchScope, id: Uuid): Promise<Instant> {
  return (await findRecordById(tx, "event", scope, id))?.at ?? brandAs<Instant>(0);
}

/** A row that an id names: what was used, and how much. */
export type FoundRecord = Found & {
  readonly id: Uuid;
  /** The feature's or the event's key. */
  readonly subject: string;
  readonly quantity: number;
  /** Of a denial. */
  readonly reason: string | null;
};

const FEATURE_KEY = `(
    select f.key
    from cell.features as f
    where f.environment_id = r.environment_id
      and f.id = r.feature_id
  )`;

const FIND_CHARGE = statement(
  "search.find_charge",
  `
  select
    r.environment_id,
    (extract(epoch from r.recorded_at) * 1000)::bigint,
    ${CUSTOMER_ID("r")},
    ${FEATURE_KEY},
    r.quantity,
    null
  from cell.ledger as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.customer_number = $3
    and r.sequence = $4
    and r.kind = 2`,
);

const FIND_DENIAL = statement(
  "search.find_denial",
  `
  select
    r.environment_id,
    (extract(epoch from r.recorded_at) * 1000)::bigint,
    ${CUSTOMER_ID("r")},
    ${FEATURE_KEY},
    r.quantity,
    r.reason
  from cell.denials as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.id = $3`,
);

const FIND_EVENT = statement(
  "search.find_event",
  `
  select
    r.environment_id,
    (extract(epoch from r.occurred_at) * 1000)::bigint,
    ${CUSTOMER_ID("r")},
    r.event,
    r.quantity,
    null
  from cell.events as r
  where r.environment_id = any($1::integer[])
    and r.recorded_at = $2
    and r.id = $3`,
);

export type RecordKind = "charge" | "denial" | "event";

/** By its id, which says when it was recorded and so where to look. */
export async function findRecordById(
  tx: Tx,
  kind: RecordKind,
  { environments }: SearchScope,
  id: Uuid,
): Promise<FoundRecord | null> {
  const recordedAt = formatTimestamp(brandAs<Instant>(id.readUIntBE(0, 6)));
  const where = [integers(environments), recordedAt];
  const { customerNumber, sequence } = readConsumeId(id);
  const { rows } =
    kind === "charge"
      ? await tx.run(FIND_CHARGE, [...where, customerNumber, sequence])
      : await tx.run(kind === "denial" ? FIND_DENIAL : FIND_EVENT, [...where, id.toString("hex")]);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    ...readFound(row),
    id,
    subject: readText(row[3]),
    quantity: readInteger(row[4]),
    reason: readNullable(row[5], (reason) => reasonOf(readInteger(reason))),
  };
}

function readFound([environmentId, at, customerId]: readonly unknown[]): Found {
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    at: readInstant(at),
    customerId: readNullable(customerId, readText),
  };
}
