import { assert } from "../../../primitives/assert.ts";

/** Kinds of usage that a meter counts. The numbers are stored and never change. */
export const METER_KIND_NUMBER = { events: 1, charges: 2, denials: 3, overage: 4 } as const;
export type MeterKind = keyof typeof METER_KIND_NUMBER;

const METER_KINDS: readonly MeterKind[] = ["events", "charges", "denials", "overage"];

export function meterKindOf(number: number): MeterKind {
  const kind = METER_KINDS[number - 1];
  assert(kind !== undefined, "a meter is of a known kind");
  return kind;
}

const BUCKET = (at: string): string => `date_bin('15 minutes', ${at}, '2000-01-01 00:00:00+00')`;

/** SQL conditions on each table, whose alias is r. Each condition in `charges` selects a separate set of charges. */
export type WhereRows = {
  readonly events: string;
  readonly charges: readonly string[];
  readonly denials: string;
};

/** SQL for the amounts and the bucket of each event, charge, overage, reversal and denial. Used to build and verify roll-ups. */
export function rowsOfUsage({ events, charges, denials }: WhereRows): string {
  return `
      select
        r.environment_id,
        ${METER_KIND_NUMBER.events}::smallint as kind,
        r.event as key,
        null::integer as feature_id,
        null::integer as pool_id,
        null::smallint as reason,
        r.customer_number,
        ${BUCKET("r.occurred_at")} as bucket,
        1 as count,
        r.quantity,
        0::bigint as credits
      from cell.events as r
      where ${events}
      ${charges.map(rowsOfCharges).join("")}
      union all
      select
        r.environment_id,
        ${METER_KIND_NUMBER.denials}::smallint,
        (r.feature_id || ':' || r.reason) collate "C",
        r.feature_id,
        null,
        r.reason,
        r.customer_number,
        ${BUCKET("r.recorded_at")},
        1,
        r.quantity,
        0
      from cell.denials as r
      where ${denials}`;
}

/**
 * A reversal reduces quantity and credits in the bucket in which it was made. A charge that is partly overage counts for two meters: its
 * credits for one, its overage for the other.
 */
function rowsOfCharges(where: string): string {
  return `
      union all
      select
        r.environment_id,
        m.kind,
        (r.feature_id || ':' || r.pool_id) collate "C",
        r.feature_id,
        r.pool_id,
        null,
        r.customer_number,
        ${BUCKET("coalesce(r.effective_at, r.recorded_at)")},
        case r.kind when 2 then 1 else 0 end,
        m.quantity,
        m.credits
      from cell.ledger as r
      cross join lateral (
        values
          (${METER_KIND_NUMBER.charges}::smallint, case r.kind when 2 then r.quantity else -r.quantity end, -r.amount),
          (${METER_KIND_NUMBER.overage}::smallint, 0, case r.kind when 2 then r.overage else -r.overage end)
      ) as m (kind, quantity, credits)
      where r.kind in (2, 5)
        and m.credits is not null
        and ${where}`;
}

/** Totals of these rows by environment, meter, customer and bucket. */
export function usageOfRows(where: WhereRows): string {
  return `
    select
      u.environment_id,
      u.kind,
      u.key,
      u.feature_id,
      u.pool_id,
      u.reason,
      u.customer_number,
      u.bucket,
      count(*) as rows,
      sum(u.count) as count,
      sum(u.quantity) as quantity,
      sum(u.credits) as credits
    from (${rowsOfUsage(where)}
    ) as u
    group by
      u.environment_id, u.kind, u.key, u.feature_id, u.pool_id, u.reason, u.customer_number, u.bucket`;
}

/** The maximum number of customer slices. It is limited, because each slice reads all rows. */
export const SLICES_MAX = 2 ** 12;

/**
 * Whether a customer is in a slice, by two parameters. The first of n slices equals the first two of 2n slices, so that the
 * remaining slices can be halved.
 */
export function isInCustomers(customerNumber: string, slices: string, slice: string): string {
  return `(${slices} = 1 or (hashint8(${customerNumber}) & ${SLICES_MAX - 1}) * ${slices}::bigint / ${SLICES_MAX} = ${slice})`;
}

/** Rows with `$1 <= transaction_number < $2`, in slice `$4` of `$3`. */
const IN_STRETCH = `
        r.transaction_number >= $1
        and r.transaction_number < $2
        and ${isInCustomers("r.customer_number", "$3", "$4")}`;

export const ROWS_OF_STRETCH: WhereRows = { events: IN_STRETCH, charges: [IN_STRETCH], denials: IN_STRETCH };
