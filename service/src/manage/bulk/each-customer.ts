import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { type Context, countChanged, recordAudit, startBulk } from "../context.ts";
import { timeOrNull } from "../fields.ts";
import { CHUNK_SIZE, withRetries } from "./chunks.ts";
import type { Caller } from "./turns.ts";

/**
 * Number of customers changed at the same time, each in a separate transaction. Two bulk changes may run at once. They
 * take turns with the project's other calls for its share of the connections.
 */
const AT_ONCE = 2;

/**
 * Calls `change` for each item, `AT_ONCE` items in parallel. `change` must be safe to repeat. Stops when the caller disconnects, and
 * throws when the caller loses access. Calls `onUnknown` after a commit with an unknown outcome.
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  caller: Caller,
  change: (item: T) => Promise<void>,
  onUnknown?: () => void,
): Promise<void> {
  for (let at = 0; at < items.length && caller.isWaiting(); at += CHUNK_SIZE) {
    await withRetries(() => caller.admitAgain());
    const rest = items.slice(at, at + CHUNK_SIZE).values();
    const work = async (): Promise<void> => {
      for (const item of rest) await withRetries(() => change(item), onUnknown);
    };
    // Waits for all calls, even if one fails, so that no change is still running when the result is recorded.
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    for (const end of ended) if (end.status === "rejected") throw end.reason;
  }
}

/** A customer whose change was rejected, and the reason. */
export type Refusal = { readonly customerId: CustomerId; readonly code: string; readonly detail: string };

export type EachOutcome = {
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly Refusal[];
  /** The ID of the audit entry for the whole change. Null if nothing changed. */
  readonly auditEntryId: string | null;
};

type BulkEntry = { readonly action: string; readonly subject: string; readonly after: object };

/** Changes each customer in a separate operation, and records the whole change as one audit entry. */
export async function changeEach(
  cell: Pool,
  asked: Context,
  customers: readonly CustomerId[],
  caller: Caller,
  entry: BulkEntry,
  change: (context: Context, customerId: CustomerId) => Promise<"changed" | "unchanged">,
): Promise<EachOutcome> {
  const context = await startBulk(cell, asked, entry.action);
  const counts = { changed: 0, unchanged: 0 };
  const refused: Refusal[] = [];
  let isUncertain = false;
  let auditEntryId: string | null = null;
  try {
    const changeOne = async (customerId: CustomerId): Promise<void> => {
      try {
        counts[await change(context, customerId)] += 1;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push({ customerId, code: error.code, detail: error.message });
      }
    };
    await forEachAtOnce(customers, caller, changeOne, () => {
      isUncertain = true;
    });
  } finally {
    if (isUncertain) {
      // After an unknown outcome, the retry counts customers changed by the first attempt as unchanged.
      const changed = await countChanged(cell, context, counts.changed);
      counts.unchanged = Math.max(0, counts.unchanged - (changed - counts.changed));
      counts.changed = changed;
    }
    if (counts.changed > 0) {
      // IDs may be personal data, so the audit log records only their number.
      const numbers = { customerIds: customers.length, ...counts, refused: refused.length };
      const after = { ...entry.after, ...numbers, startedAt: timeOrNull(context.bulk.startedAt) };
      auditEntryId = await recordAudit(cell, context, { ...entry, after });
    }
  }
  return { ...counts, refused, auditEntryId };
}
