import { readNullable } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { clocksAgree } from "../../primitives/clocks-agree.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { readClock } from "./clock.ts";

export type SweepName = "expiries" | "ended keys";

/** The position of a sweep. The job defines the meaning of the numbers. Null at the start. */
export type SweepPosition = readonly number[] | null;

const LOCK = statement(
  "sweeps.lock",
  `
  select position::text
  from cell.sweeps
  where name = $1
    and (
      rests_until <= clock_timestamp()
      -- No sweep rests that long: the value dates from before a failover to a server whose clock is behind.
      or rests_until > clock_timestamp() + interval '24 hours'
    )
  for update skip locked`,
);

/**
 * Locks a sweep for one step, so that only one process runs it. Null if another process holds the lock, or the sweep is paused. Throws if
 * the database's clock is wrong: a sweep expires credits permanently, so it waits until the clock is corrected.
 */
export async function lockSweep(
  tx: Tx,
  name: SweepName,
): Promise<{ readonly position: SweepPosition } | null> {
  const { rows } = await tx.run(LOCK, [name]);
  if (rows[0] === undefined) return null;
  const now = await readClock(tx);
  if (!clocksAgree(now))
    throw new Error(
      `the database's clock shows ${formatTimestamp(now)}, more than an hour from this machine's clock: correct the wrong one`,
    );
  return { position: readNullable(rows[0][0], readPosition) };
}

function readPosition(value: unknown): readonly number[] {
  const numbers: unknown = JSON.parse(String(value));
  assert(Array.isArray(numbers) && numbers.every(Number.isSafeInteger), "a position has integers only");
  return numbers;
}

const MOVE = statement(
  "sweeps.move",
  `
  update cell.sweeps
  set
    position = $2::jsonb,
    rests_until = clock_timestamp() + make_interval(secs => $3::double precision / 1000)
  where name = $1`,
);

export function moveSweep(
  tx: Tx,
  name: SweepName,
  { position, restMs }: { readonly position: SweepPosition; readonly restMs: number },
): Promise<Rows> {
  return tx.run(MOVE, [name, position === null ? null : JSON.stringify(position), restMs]);
}
