import type { Tx } from "../postgres/statement.ts";
import { clocksAgree } from "../primitives/clocks-agree.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { readClock } from "../store/cell/clock.ts";

/** For jobs that end what nobody asked about: they can wait until somebody has looked at the clocks. */
export async function refuseOddClock(tx: Tx): Promise<void> {
  const now = await readClock(tx);
  if (!clocksAgree(now))
    throw new Error(
      `by the database's clock it is ${formatTimestamp(now)}, more than an hour from this machine's: set the wrong one`,
    );
}
