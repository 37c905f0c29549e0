import { readNullable } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";

export type SweepName = "expiries" | "ended keys";

/** Where a sweep is: numbers that mean something to its job alone. Null: at the beginning. */
export type SweepPosition = readonly number[] | null;

const LOCK = statement(
  "sweeps.lock",
  `
  select position::text
  from cell.sweeps
  where name = $1
    and (
      rests_until <= clock_timestamp()
      -- After a failover to a slower clock: no sweep rests that long.
      or rests_until > clock_timestamp() + interval '24 hours'
    )
  for update skip locked`,
);

/** One process at a time takes a step. Null: another one does, or the sweep rests. */
export async function lockSweep(
  tx: Tx,
  name: SweepName,
): Promise<{ readonly position: SweepPosition } | null> {
  const { rows } = await tx.run(LOCK, [name]);
  return rows[0] === undefined ? null : { position: readNullable(rows[0][0], readPosition) };
}

function readPosition(value: unknown): readonly number[] {
  const numbers: unknown = JSON.parse(String(value));
  assert(Array.isArray(numbers) && numbers.every(Number.isSafeInteger), "a position is made of integers");
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
