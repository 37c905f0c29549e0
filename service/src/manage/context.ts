import type { Pool } from "../postgres/pool.ts";
import { single, transaction } from "../postgres/transaction.ts";
import type { Actor } from "../primitives/actor.ts";
import type { EnvironmentId, ProjectId } from "../primitives/brand.ts";
import { formatUuid, uuidV7 } from "../primitives/uuid.ts";
import { type BulkStart, insertAuditOnce } from "../store/cell/audit.ts";
import { countEntriesOfBulk } from "../store/cell/audit-entries.ts";
import { readClock } from "../store/cell/clock.ts";
import { withRetries } from "./bulk/chunks.ts";

/** The environment an operation runs in, and the actor that runs it. */
export type Context = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly actor: Actor;
  /** Marks the per-customer audit entries of a bulk change or import, so that the audit log can hide them. */
  readonly bulk?: BulkStart;
};

export type BulkContext = Context & { readonly bulk: BulkStart };

/**
 * Starts a bulk change. Reads the start time from the database, because an undo searches for the change's audit entries from about
 * this time onward.
 */
export async function startBulk(cell: Pool, context: Context, action: string): Promise<BulkContext> {
  const startedAt = await single(cell, readClock);
  return { ...context, bulk: { id: uuidV7(startedAt), startedAt, action } };
}

/**
 * Counts the customers who have an audit entry of this bulk change. Returns at least `counted`, because entries are not
 * found if the clock was set back by more than `CLOCK_STEP_MS_MAX`.
 */
export async function countChanged(
  cell: Pool,
  { environmentId, bulk }: BulkContext,
  counted: number,
): Promise<number> {
  const found = await withRetries(() => single(cell, (tx) => countEntriesOfBulk(tx, environmentId, bulk)));
  return Math.max(counted, found);
}

/**
 * Records one audit entry in a separate transaction, for operations that span several transactions. Returns its ID. Retries use the
 * same ID, so the entry is written once even if the response to the commit is lost.
 */
export async function recordAudit(
  cell: Pool,
  { environmentId, actor, bulk }: Context,
  entry: { readonly action: string; readonly subject: string; readonly after: object },
): Promise<string> {
  const recordedAt = await withRetries(() => single(cell, readClock));
  const id = uuidV7(recordedAt);
  const after = bulk ? { ...entry.after, startEntry: formatUuid(bulk.id) } : entry.after;
  const row = { environmentId, actor, customerNumber: null, before: null, id, recordedAt, ...entry, after };
  await withRetries(() => transaction(cell, (tx) => insertAuditOnce(tx, row)));
  return formatUuid(id);
}
