import { integers } from "../../../postgres/binary-array.ts";
import { type Parameter, statement, type Tx } from "../../../postgres/statement.ts";
import type { EnvironmentId } from "../../../primitives/brand.ts";
import { isInCustomers, usageOfRows, type WhereRows } from "./rows.ts";

/** Some quarters of an hour of these environments, from one moment up to but without another; both as PostgreSQL writes them. */
export type TimeSlice = {
  readonly environments: readonly EnvironmentId[];
  readonly from: string;
  readonly to: string;
};

/** The first three parameters of every statement about a slice. */
export function sliceParameters({ environments, from, to }: TimeSlice): Parameter[] {
  return [integers(environments), from, to];
}

/** One of so many slices of the customers, counted from 0. */
export type SomeCustomers = { readonly slices: number; readonly slice: number };

export const ALL_CUSTOMERS: SomeCustomers = { slices: 1, slice: 0 };

/** The parameters of a statement about some customers in a slice of time. */
export function someParameters(slice: TimeSlice, { slices, slice: index }: SomeCustomers): Parameter[] {
  return [...sliceParameters(slice), slices, index];
}

export const IN_SLICE = `
    environment_id = any ($1::integer[])
      and quarter >= $2::timestamptz
      and quarter < $3::timestamptz`;

export const OF_SOME_IN_SLICE = `${IN_SLICE}
      and ${isInCustomers("customer_number", "$4", "$5")}`;

// Those that the sums should hold by now. Not by the index of these numbers: it knows nothing of time.
const IS_ADDED = `
        r.environment_id = any ($1::integer[])
        and r.transaction_number + 0 < (select p.transaction_number from cell.usage_progress as p)
        and ${isInCustomers("r.customer_number", "$4", "$5")}`;

const isIn = (time: string): string =>
  `${time} >= $2::timestamptz and ${time} < $3::timestamptz and ${IS_ADDED}`;

/** By their own time: each table has an index for that, of charges one for nearly all and one for the rest. */
const ROWS_OF_SLICE: WhereRows = {
  events: isIn("r.occurred_at"),
  charges: [`r.effective_at is null and ${isIn("r.recorded_at")}`, isIn("r.effective_at")],
  denials: isIn("r.recorded_at"),
};

/** What the rows of some customers in a slice come to. */
export const USAGE_OF_SLICE = usageOfRows(ROWS_OF_SLICE);

const SETTINGS = statement(
  "usage_slice.settings",
  `
  select
    set_config('enable_hashjoin', 'on', false),
    -- Without it there is no way along a BRIN index.
    set_config('enable_bitmapscan', 'on', false),
    set_config('plan_cache_mode', 'force_custom_plan', false),
    set_config('jit', 'off', false)`,
);

/** For statements that read many rows, on a connection that was opened for others. */
export async function prepareForSlices(tx: Tx): Promise<void> {
  await tx.run(SETTINGS);
}
