import type { Session } from "../../../postgres/session.ts";
import { openExpected, rangeOf } from "../../../store/cell/usage/expected.ts";
import { findCustomerOfMonth, listUsageMonths, remakeMonths } from "../../../store/cell/usage/levels.ts";
import { readUsageProgress, waitForUsageProgress } from "../../../store/cell/usage/progress.ts";
import { remakeQuarters } from "../../../store/cell/usage/remake.ts";
import { brandAs, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import { nextUtcMonth, utcMonth } from "../../../words/utc-month.ts";
import { ExpectedWalk, readWholeProgress } from "./expected-walk.ts";
import { DAY_MS } from "./utc-day.ts";

const ROWS_MAX = 50_000;

/**
 * Makes a day's sums anew from its rows, and the month's of its customers from those. The rows are read before anybody is held
 * up; only what came meanwhile is read while the progress is locked, and new usage is added right after.
 */
export async function repairDay(session: Session, day: Instant): Promise<void> {
  const range = rangeOf(day, brandAs<Instant>(day + DAY_MS));
  await openExpected(session);
  const walk = new ExpectedWalk(range);
  await walk.catchUp(session);
  await inTransaction(session, async (transactionNumber) => {
    await walk.readTo(session, transactionNumber);
    await remakeQuarters(session, range);
  });
  const month = utcMonth(day);
  const [from, to] = [formatTimestamp(month), formatTimestamp(nextUtcMonth(month))];
  for (const { environmentId, month: found } of await listUsageMonths(session)) {
    if (found !== month) continue;
    for (let after = 0; after < Number.MAX_SAFE_INTEGER; ) {
      const until = await findCustomerOfMonth(session, { environmentId, from, to, after }, ROWS_MAX);
      const some = { environmentId, from, to, after, until };
      await inTransaction(session, () => remakeMonths(session, some));
      after = until;
    }
  }
}

/** With the progress locked, where it is between two transactions. */
async function inTransaction(session: Session, work: (number: number) => Promise<unknown>): Promise<void> {
  for (;;) {
    await readWholeProgress(session, readUsageProgress);
    await session.begin();
    const { transactionNumber, slices } = await waitForUsageProgress(session);
    if (slices.done > 0) {
      await session.rollback();
      continue;
    }
    await work(transactionNumber);
    return session.commit();
  }
}
