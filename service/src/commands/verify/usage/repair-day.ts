import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "../../../postgres/session.ts";
import { isLockTaken } from "../../../postgres/sql-error.ts";
import type { Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { findWholeSince } from "../../../store/cell/usage/attached-months.ts";
import { listUsageEnvironments } from "../../../store/cell/usage/extent.ts";
import { waitForUsageProgress } from "../../../store/cell/usage/progress.ts";
import { rebuildBuckets, rebuildCustomers } from "../../../store/cell/usage/rebuild.ts";
import { prepareForSlices } from "../../../store/cell/usage/time-slice.ts";
import { Crowd } from "./stride.ts";
import { DAY_MS } from "./utc-day.ts";

export type Repairing = Tx & Pick<Session, "begin" | "commit" | "rollback" | "isOpen">;

const PAUSE_MS = 100;
/** Many attempts, because the roll-up job holds the lock most of the time while it catches up. */
const TRIES_MAX = 600;

/** Rebuilds the roll-ups of a UTC day from its rows. A large day is split by customer. The roll-up job can run between slices. */
export async function repairDay(session: Repairing, day: Instant): Promise<void> {
  await refuseMissingRows(session, day);
  await prepareForSlices(session);
  const environments = await listUsageEnvironments(session);
  const slice = { environments, from: formatTimestamp(day), to: formatTimestamp(nextDay(day)) };
  await new Crowd().walk((some) =>
    withProgress(session, async () => {
      const rows = await rebuildCustomers(session, slice, some);
      // Checked in this transaction, because a month can be detached at any time.
      await refuseMissingRows(session, day);
      // Rebuilds the buckets in the transaction of the last slice. Most days have one slice, so their roll-ups never disagree.
      if (some.slice === some.slices - 1) await rebuildBuckets(session, slice);
      return rows;
    }),
  );
}

/** Throws if rows of the day are detached, because its roll-ups could not be rebuilt completely. */
async function refuseMissingRows(tx: Tx, day: Instant): Promise<void> {
  const since = await findWholeSince(tx);
  if (!hasRows(day, since))
    throw new Error(
      `roll-ups of days before ${formatTimestamp(since ?? day)} cannot be rebuilt: ${DETACHED}; attach them first`,
    );
}

/** Whether all rows of a day are attached. */
export function hasRows(day: Instant, since: Instant | null): boolean {
  return since === null || day >= since;
}

export const DETACHED = "not every month of events, ledger and denials is attached";

function nextDay(day: Instant): Instant {
  return brandAs<Instant>(day + DAY_MS);
}

/** Runs `work` in a transaction that locks the roll-up progress. Waits while a large transaction is partly added. */
async function withProgress(session: Repairing, work: () => Promise<number>): Promise<number> {
  let cause: unknown = null;
  for (let i = 1; ; i++) {
    await session.begin();
    try {
      const { slices } = await waitForUsageProgress(session);
      if (slices.done === 0) {
        const rows = await work();
        await session.commit();
        return rows;
      }
      await session.rollback();
    } catch (error) {
      if (session.isOpen) await session.rollback();
      if (!isLockTaken(error)) throw error;
      cause = error;
    }
    if (i === TRIES_MAX)
      throw new Error("the roll-ups are behind: repair the day once they have caught up", { cause });
    await sleep(PAUSE_MS);
  }
}
