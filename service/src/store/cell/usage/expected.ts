import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { readUsed, type Used } from "./chart.ts";
import { type MeterKind, meterKindOf } from "./rows.ts";
import {
  OF_SOME_IN_SLICE,
  type SomeCustomers,
  someParameters,
  type TimeSlice,
  USAGE_OF_SLICE,
} from "./time-slice.ts";

/** A sum that is not that of its rows. */
export type WrongSum = {
  readonly environmentId: EnvironmentId;
  /** Null: of all customers. */
  readonly customerNumber: CustomerNumber | null;
  readonly at: Instant;
  /** Null: it is of a meter that is not there. */
  readonly meter: { readonly kind: MeterKind; readonly key: string } | null;
  /** Of rows less what the sum says. */
  readonly missing: Used;
};

// Rows, sums and progress of one instant: no row is added up meanwhile, and none that was is missing.
const COMPARE = statement(
  "usage_expected.compare",
  `
  with expected as materialized (${USAGE_OF_SLICE}
  ), wrong as (
    select
      a.environment_id,
      a.customer_number,
      (extract(epoch from a.quarter) * 1000)::bigint as at,
      a.kind,
      a.key,
      sum(a.count) as count,
      sum(a.quantity) as quantity,
      sum(a.credits) as credits
    from (
      select environment_id, customer_number, quarter, kind, key, count, quantity, credits
      from expected
      union all
      select s.environment_id, s.customer_number, s.quarter, m.kind, m.key, -s.count, -s.quantity, -s.credits
      from (
        select environment_id, customer_number, quarter, meter_id, count, quantity, credits
        from cell.usage_customer_quarters
        where ${OF_SOME_IN_SLICE}
      ) as s
      left join cell.meters as m on m.environment_id = s.environment_id and m.id = s.meter_id
    ) as a
    group by a.environment_id, a.customer_number, a.quarter, a.kind, a.key
    having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
    limit 1
  )
  select
    (select coalesce(sum(e.rows), 0) from expected as e),
    p.slices_done > 0,
    w.environment_id, w.customer_number, w.at, w.kind, w.key, w.count, w.quantity, w.credits
  from cell.usage_progress as p
  left join wrong as w on true`,
);

export type Comparison = {
  /** How many were read. */
  readonly rows: number;
  readonly wrong: WrongSum | null;
};

/** What some customers used against the rows. `isPartly`: a large transaction is only partly in the sums, so that this says nothing. */
export async function compareWithRows(
  tx: Tx,
  slice: TimeSlice,
  some: SomeCustomers,
): Promise<Comparison & { readonly isPartly: boolean }> {
  const { rows } = await tx.run(COMPARE, someParameters(slice, some));
  const [count, isPartly, ...wrong] = rows[0] ?? [];
  return { rows: readInteger(count), isPartly: readBoolean(isPartly), wrong: readWrongSum(wrong) };
}

/** Null: there is none. */
export function readWrongSum(columns: readonly unknown[]): WrongSum | null {
  const [environmentId, customerNumber, at, kind, key, ...used] = columns;
  if (environmentId === null || environmentId === undefined) return null;
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: readNullable(customerNumber, (number) => brandAs<CustomerNumber>(readInteger(number))),
    at: readInstant(at),
    meter: readNullable(kind, (number) => ({ kind: meterKindOf(readInteger(number)), key: readText(key) })),
    missing: readUsed(used),
  };
}
