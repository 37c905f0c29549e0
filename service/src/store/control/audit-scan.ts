import { readNullable, readText } from "../../postgres/column.ts";
import { column, describeRow, id, instant, orNull, type RowOf, text } from "../../postgres/row.ts";
import { type Parameter, type Statement, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerNumber, EnvironmentId } from "../../primitives/brand.ts";

/** The columns of a scan. `a` is the audit table, `s` holds the scanned IDs. `customer` is `null` if the table has no such column. */
export function auditRow(customer: "a.customer_number" | "null") {
  return describeRow({
    /** A UUIDv7 that starts with the recording time, so IDs sort by time. */
    id: text("s.id::text"),
    recordedAt: instant("a.recorded_at"),
    actor: describeRow({
      kind: column(readActorKind, "a.actor_kind"),
      id: orNull(text("a.actor_id")),
      requestId: orNull(text("a.request_id")),
    }),
    action: text("a.action"),
    subject: text("a.subject"),
    environmentId: orNull(id<EnvironmentId>("a.environment_id")),
    customerNumber: orNull(id<CustomerNumber>(customer)),
    before: orNull(column(readContent, "a.before")),
    after: orNull(column(readContent, "a.after")),
  });
}

/** An audit entry of a workspace or an environment. */
export type AuditRecord = RowOf<ReturnType<typeof auditRow>>;

export type AuditContent = Readonly<Record<string, unknown>>;

export type AuditFilter = {
  /** A null `id` matches any command or the service itself. */
  readonly actor: Pick<Actor, "kind" | "id"> | null;
  readonly actionPrefix: string | null;
  /** Hides the per-customer entries of bulk changes and imports. Also hides the start entry once the final entry exists. */
  readonly collapsesBulk: boolean;
  /** Leaves out entries of the control plane whose action starts with one of these texts, as if they did not exist. */
  readonly hidden: readonly string[];
};

/** IDs from `from` (inclusive) to `before` (exclusive), newest first, at most `count`. */
export type AuditWindow = {
  readonly before: string | null;
  readonly from: string | null;
  readonly count: number;
};

/** `horizon` is the oldest scanned ID, or null if the scan reached the end. `records` may be empty even before the end. */
export type AuditScan = { readonly records: readonly AuditRecord[]; readonly horizon: string | null };

/** SQL for parameters 1 to 3 of a scan: the window of IDs in the audit table `c`, and the number of IDs. */
export const IS_WITHIN = "($1::uuid is null or c.id < $1) and ($2::uuid is null or c.id >= $2)";
export const COUNT = "$3";

/** SQL for parameters 4 to 6 of a scan: the filters on the audit table `a`. */
export const MATCHES = `($4::text is null or a.actor_kind = $4)
      and ($5::text is null or a.actor_id = $5)
      and ($6::text is null or starts_with(a.action, $6))`;

/** `where` contains SQL parameters 7 and up, which select a workspace, environment or customer. */
export type AuditQuestion = {
  readonly window: AuditWindow;
  readonly filter: AuditFilter;
  readonly where: readonly Parameter[];
};

/** Runs a scan, which returns a row for each scanned ID. The fields are null in rows that do not match the filters. */
export async function runScan(
  tx: Tx,
  scan: Statement,
  { window: { before, from, count }, filter: { actor, actionPrefix }, where }: AuditQuestion,
  read: (row: readonly unknown[]) => AuditRecord,
): Promise<AuditScan> {
  const filters = [actor?.kind ?? null, actor?.id ?? null, actionPrefix];
  // Unnamed, so that PostgreSQL makes a query plan for these filters instead of reusing a generic plan.
  const { rows } = await tx.run({ ...scan, name: "" }, [before, from, count, ...filters, ...where]);
  return {
    records: rows.filter(([, recordedAt]) => recordedAt !== null).map(read),
    horizon: rows.length < count ? null : readNullable(rows.at(-1)?.[0] ?? null, readText),
  };
}

const ROW = auditRow("null");

const SCAN = statement(
  "audit.scan_control",
  `
  select ${ROW.list}
  from (
    select c.workspace_id, c.id
    from control.audit as c
    where c.workspace_id = $7
      and ($8::integer is null or c.environment_id = $8)
      and not exists (select from unnest($9::text[]) as h (prefix) where starts_with(c.action, h.prefix))
      and ${IS_WITHIN}
    order by c.id desc
    limit ${COUNT}
  ) as s
  left join control.audit as a
    on a.workspace_id = s.workspace_id
    and a.id = s.id
    and ${MATCHES}
  order by s.id desc`,
);

/** Scans the audit entries of the workspace, or of one of its environments. */
export function scanControlAudit(
  tx: Tx,
  {
    workspaceId,
    environmentId,
  }: { readonly workspaceId: number; readonly environmentId: EnvironmentId | null },
  window: AuditWindow,
  filter: AuditFilter,
): Promise<AuditScan> {
  return runScan(tx, SCAN, { window, filter, where: [workspaceId, environmentId, filter.hidden] }, ROW.read);
}

function readContent(value: unknown): AuditContent {
  assert(typeof value === "object" && value !== null, "audit content is an object");
  return { ...value };
}

const ACTOR_KINDS = [
  "member",
  "token",
  "api_key",
  "command",
  "system",
] as const satisfies readonly Actor["kind"][];

function readActorKind(value: unknown): Actor["kind"] {
  const kind = ACTOR_KINDS.find((known) => known === value);
  assert(kind !== undefined, "a known actor kind");
  return kind;
}
