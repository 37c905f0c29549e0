import { type RawBuilder, sql } from "kysely";
import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import { assert } from "../../words/assert.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../words/brand.ts";
import { query, runQuery } from "../query.ts";

/** One thing that somebody did, from either of the two schemas. */
export type AuditRecord = {
  /** UUIDv7 of when it was recorded, as text: it sorts by time. */
  readonly id: string;
  readonly recordedAt: Instant;
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  readonly environmentId: EnvironmentId | null;
  readonly customerNumber: CustomerNumber | null;
  readonly before: AuditContent | null;
  readonly after: AuditContent | null;
};

export type AuditContent = Readonly<Record<string, unknown>>;

export type AuditFilter = {
  /** `id` is null for commands and the service itself: any of them. */
  readonly actor: Pick<Actor, "kind" | "id"> | null;
  readonly actionPrefix: string | null;
};

/** Ids from `from` up to, and without, `before`, the newest first, and at most `count` of them. */
export type AuditWindow = {
  readonly before: string | null;
  readonly from: string | null;
  readonly count: number;
};

/** `horizon`: as far back as was looked, if there is more beyond; what matches may be none of it. */
export type AuditScan = { readonly records: readonly AuditRecord[]; readonly horizon: string | null };

export function isWithin(id: string, { before, from }: AuditWindow): RawBuilder<unknown> {
  const column = sql.ref(id);
  const isBefore = before === null ? sql`true` : sql`${column} < ${before}`;
  return from === null ? isBefore : sql`${isBefore} and ${column} >= ${from}`;
}

/** Of the audit as `a`. */
export function matches({ actor, actionPrefix }: AuditFilter): RawBuilder<unknown> {
  const isActor =
    actor === null
      ? sql`true`
      : actor.id === null
        ? sql`a.actor_kind = ${actor.kind}`
        : sql`a.actor_kind = ${actor.kind} and a.actor_id = ${actor.id}`;
  return actionPrefix === null ? isActor : sql`${isActor} and starts_with(a.action, ${actionPrefix})`;
}

/** What both schemas have in common; environment and customer come behind. */
export const AUDIT_COLUMNS = sql`
  s.id::text,
  (extract(epoch from a.recorded_at) * 1000)::bigint,
  a.actor_kind,
  a.actor_id,
  a.request_id,
  a.action,
  a.subject,
  a.before,
  a.after`;

/** A row per id that was looked at; of those that do not match, all but the id is null. */
export async function runScan(
  tx: Tx,
  name: string,
  scan: RawBuilder<unknown>,
  { count }: AuditWindow,
): Promise<AuditScan> {
  const { rows } = await runQuery(tx, name, { compile: () => scan.compile(query) });
  return {
    records: rows.filter(([, recordedAt]) => recordedAt !== null).map(readRecord),
    horizon: rows.length < count ? null : readNullable(rows.at(-1)?.[0] ?? null, readText),
  };
}

function readRecord(row: readonly unknown[]): AuditRecord {
  const [id, recordedAt, kind, actorId, requestId, action, subject, before, after, ...where] = row;
  const [environmentId = null, customerNumber = null] = where;
  return {
    id: readText(id),
    recordedAt: readInstant(recordedAt),
    actor: {
      kind: readActorKind(kind),
      id: readNullable(actorId, readText),
      requestId: readNullable(requestId, readText),
    },
    action: readText(action),
    subject: readText(subject),
    environmentId: readNullable(environmentId, (value) => brandAs<EnvironmentId>(readInteger(value))),
    customerNumber: readNullable(customerNumber, (value) => brandAs<CustomerNumber>(readInteger(value))),
    before: readNullable(before, readContent),
    after: readNullable(after, readContent),
  };
}

function readContent(value: unknown): AuditContent {
  assert(typeof value === "object" && value !== null, "an audit holds objects");
  return { ...value };
}

const ACTOR_KINDS = ["member", "token", "command", "system"] as const satisfies readonly Actor["kind"][];

function readActorKind(value: unknown): Actor["kind"] {
  const kind = ACTOR_KINDS.find((known) => known === value);
  assert(kind !== undefined, "a kind of actor that the table knows");
  return kind;
}
