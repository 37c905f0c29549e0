import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "../../../postgres/session.ts";
import { isLockTaken } from "../../../postgres/sql-error.ts";
import type { Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { nextUtcMonth, utcMonth } from "../../../primitives/utc-month.ts";
import { findWholeSince } from "../../../store/cell/usage/attached-months.ts";
import { readCustomersExtent, remakeMonths } from "../../../store/cell/usage/levels.ts";
import { waitForUsageProgress } from "../../../store/cell/usage/progress.ts";
import { remakeCustomers, remakeQuarters } from "../../../store/cell/usage/remake.ts";
import { listUsageEnvironments } from "../../../store/cell/usage/slice-extent.ts";
import { prepareForSlices, type SomeCustomers } from "../../../store/cell/usage/time-slice.ts";
import { Crowd, stride } from "./stride.ts";
import { DAY_MS } from "./utc-day.ts";
import { strideOverCustomers, TIME_WIDTH } from "./verify-usage.ts";

export type Repairing = Tx & Pick<Session, "begin" | "commit" | "rollback" | "isOpen">;

const PAUSE_MS = 100;
/** While the job catches up it holds the progress most of the time. */
const TRIES_MAX = 600;

/**
 * Makes a day's sums anew from its rows, and the month's of its customers from those: some quarters of an hour, or some
 * customers, at a time, so that new usage is never held up for long.
 */
export async function repairDay(session: Repairing, day: Instant): Promise<void> {
  await refuseMissingRows(session, day);
  await prepareForSlices(session);
  const environments = await listUsageEnvironments(session);
  const crowd = new Crowd();
  await stride({ from: day, to: day + DAY_MS, width: TIME_WIDTH }, async (from, to) => {
    const slice = { environments, from: format(from), to: format(to) };
    const remakeSome = (some: SomeCustomers): Promise<number> =>
      withProgress(session, async () => {
        const rows = await remakeCustomers(session, slice, some);
        // In this very transaction: a month that went meanwhile took rows with it.
        await refuseMissingRows(session, day);
        // With the last of them, who nearly always are all: so that both levels agree whenever somebody looks.
        if (some.slice === some.slices - 1) await remakeQuarters(session, slice);
        return rows;
      });
    return crowd.over(from, to, remakeSome);
  });
  const month = utcMonth(day);
  const [from, to] = [formatTimestamp(month), formatTimestamp(nextUtcMonth(month))];
  for (const environmentId of environments) {
    const extent = await readCustomersExtent(session, environmentId);
    await strideOverCustomers(extent ?? { numberMin: 0, numberMax: 0 }, (numbers) =>
      withProgress(session, () => remakeMonths(session, { environmentId, from, to, ...numbers })),
    );
  }
}

/** What the sums say of that day is all that is left of it. */
async function refuseMissingRows(tx: Tx, day: Instant): Promise<void> {
  const since = await findWholeSince(tx);
  if (!hasRows(day, since))
    throw new Error(
      `the sums of days before ${formatTimestamp(since ?? day)} cannot be made anew: ${DETACHED}; attach them first`,
    );
}

/** Of a day, where they are all there since a moment, or null if since ever. */
export function hasRows(day: Instant, since: Instant | null): boolean {
  return since === null || day >= since;
}

export const DETACHED = "not every month of events, ledger and denials is attached";

function format(at: number): string {
  return formatTimestamp(brandAs<Instant>(at));
}

/** In a transaction that holds the progress, where it is between two transactions. */
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
      throw new Error("the sums are behind, and being added to: repair once they have caught up", { cause });
    await sleep(PAUSE_MS);
  }
}
