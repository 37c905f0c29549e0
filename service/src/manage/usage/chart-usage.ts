import { type Static, Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type FeatureId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { mapCustomers, NO_CUSTOMER, type ShownCustomer } from "../../store/cell/customers.ts";
import { reasonOf } from "../../store/cell/denials.ts";
import {
  findWholeEventsSince,
  findWholeLedgerSince,
  holdEvents,
  holdLedger,
} from "../../store/cell/usage/attached-months.ts";
import {
  type ChartOptions,
  type ChartPoint,
  chartAll,
  chartCustomers,
  type Group,
  type UsageScope,
  type Used,
} from "../../store/cell/usage/chart.ts";
import { chartGroupedRows } from "../../store/cell/usage/grouped-rows.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { invalidField, nullable, timeField } from "../fields.ts";
import { exactUsed, UsedFields, UsedSum } from "./range.ts";
import { rankUsers, refuseTooLong } from "./rank-users.ts";
import { withinSums } from "./within-sums.ts";

const points = Type.Array(Type.Object({ at: timeField, ...UsedFields }), {
  description: "Sorted from earliest to latest. Buckets without usage are left out.",
});

export const UsageLine = Type.Object({
  key: nullable(
    Type.String({
      description:
        "The feature, event, reason, customer or member, or the value of the metadata field. Null without grouping, for an erased customer, " +
        "and for usage without a member or without that field.",
      examples: ["image.generate"],
    }),
  ),
  customerName: nullable(
    Type.String({
      description:
        "The customer's current name, if usage is grouped by customer and the customer has a name.",
      examples: ["Acme GmbH"],
    }),
  ),
  total: UsedSum,
  points,
});

type Point = Used & { readonly at: Instant };
type Line = Label & { readonly total: Used; readonly points: readonly Point[] };
/** A line's key, and the customer's name if the key is a customer. */
type Label = { readonly key: string | null; readonly customerName: string | null };
type Lines = { readonly lines: readonly Line[]; readonly other: Line | null };

export function describeLine({ key, customerName, total, points: some }: Line): Static<typeof UsageLine> {
  return {
    key,
    customerName,
    total: exactUsed(total),
    points: some.map((point) => ({ at: formatTimestamp(point.at), ...exactUsed(point) })),
  };
}

export type Grouping = { readonly by: "none" | "event" | "feature" | "reason" | "customer" } | RowGrouping;

/** Members and metadata are stored only in rows, not in roll-ups. `field` is the metadata field, or null for members. */
type RowGrouping = { readonly by: "member" | "metadata"; readonly field: string | null };

/** Maximum number of rows to read when grouping by member or metadata. Reading this many rows takes about a second. */
export const GROUPED_ROWS_MAX = 200_000;

/** Returns the largest lines, largest first, and one line for all other usage. */
export async function chartUsage(
  tx: Tx,
  catalog: Catalog,
  scope: UsageScope,
  {
    grouping,
    customer,
    windowStart,
    ...options
  }: ChartOptions & {
    readonly grouping: Grouping;
    readonly customer: CustomerNumber | null;
    readonly windowStart: Instant | null;
  },
): Promise<Lines> {
  if ("field" in grouping) {
    return refuseTooLong("rows", () => chartRows(tx, scope, grouping, { ...options, customer, windowStart }));
  }
  if (grouping.by === "customer" && customer === null)
    return refuseTooLong("customer totals", () => chartByCustomer(tx, scope, options));
  const found =
    customer === null && grouping.by !== "customer"
      ? await chartAll(tx, scope, grouping.by, options)
      : await chartSome(tx, scope, customer === null ? [] : [customer], grouping.by, options);
  const names = new CatalogNames(catalog);
  const customers = await mapCustomers(tx, scope.environmentId, customer === null ? [] : [customer]);
  return toLines(found, (group) => {
    switch (grouping.by) {
      case "event":
        return labelOf(group);
      case "feature":
        return labelOf(names.feature(brandAs<FeatureId>(Number(group))));
      case "reason":
        return labelOf(reasonOf(Number(group)));
      case "customer":
        return labelCustomer(customers, group);
      default:
        return labelOf(null);
    }
  });
}

export async function chartSome(
  tx: Tx,
  scope: UsageScope,
  customers: readonly CustomerNumber[],
  group: Group,
  options: ChartOptions,
): Promise<ChartPoint[]> {
  const walked = await withinSums(tx, scope.environmentId, scope, customers.length);
  return chartCustomers(tx, walked, customers, group, options);
}

/** Returns lines for the largest customers. The usage of all other customers is the total minus these lines. */
async function chartByCustomer(tx: Tx, scope: UsageScope, options: ChartOptions): Promise<Lines> {
  const ranked = await rankUsers(tx, scope, { by: options.by, limit: options.linesMax });
  const numbers = ranked.map(({ customerNumber }) => customerNumber);
  const customers = await mapCustomers(tx, scope.environmentId, numbers);
  const found = await chartSome(tx, scope, numbers, "customer", options);
  const { lines } = toLines(found, (group) => labelCustomer(customers, group));
  const [all] = toLines(await chartAll(tx, scope, "none", options), () => labelOf(null)).lines;
  return { lines, other: all === undefined ? null : subtract(all, lines) };
}

async function chartRows(
  tx: Tx,
  scope: UsageScope,
  { by: group, field }: RowGrouping,
  options: ChartOptions & {
    readonly customer: CustomerNumber | null;
    readonly windowStart: Instant | null;
  },
): Promise<Lines> {
  await refuseMissingRows(tx, scope, group);
  const found = await chartGroupedRows(tx, scope, { ...options, field, rowsMax: GROUPED_ROWS_MAX });
  if (found === null) {
    const message = `makes the range too long to group by ${group}: choose a shorter range`;
    throw invalidField({ field: "from", code: "too_large", message });
  }
  const byValue = Map.groupBy(found, ({ value }) => value);
  const lines = [...byValue].map(([key, some]) => toLine(labelOf(key), some));
  const { by } = options;
  lines.sort((a, b) => compare(b.total[by], a.total[by]) || compare(a.key ?? "", b.key ?? ""));
  const rest = lines.slice(options.linesMax).flatMap(({ points: some }) => some);
  return { lines: lines.slice(0, options.linesMax), other: rest.length === 0 ? null : mergeRest(rest) };
}

/** Locks the row tables; must be the first statement of the snapshot. */
export function holdRows(tx: Tx, source: "events" | "charges"): Promise<unknown> {
  return source === "events" ? holdEvents(tx) : holdLedger(tx);
}

async function refuseMissingRows(tx: Tx, { kind, from }: UsageScope, group: string): Promise<void> {
  const since = kind === "events" ? await findWholeEventsSince(tx) : await findWholeLedgerSince(tx);
  if (since === null || from >= since) return;
  const message = `is before ${formatTimestamp(since)}: grouping by ${group} needs rows of earlier months, which are detached`;
  throw invalidField({ field: "from", code: "too_small", message });
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function toLines(found: readonly ChartPoint[], describe: (group: string) => Label): Lines {
  const byGroup = Map.groupBy(found, ({ group }) => group);
  const lines: Line[] = [];
  let other: Line | null = null;
  for (const [group, some] of byGroup) {
    if (group === null) other = toLine(labelOf(null), some);
    else lines.push(toLine(describe(group), some));
  }
  return { lines, other };
}

function toLine(label: Label, points: readonly Point[]): Line {
  return { ...label, total: sum(points), points };
}

function labelOf(key: string | null): Label {
  return { key, customerName: null };
}

function labelCustomer(customers: ReadonlyMap<CustomerNumber, ShownCustomer>, group: string): Label {
  const { customerId, customerName } = customers.get(brandAs<CustomerNumber>(Number(group))) ?? NO_CUSTOMER;
  return { key: customerId, customerName };
}

export function sum(some: readonly Used[]): Used {
  const total = { count: 0n, quantity: 0n, credits: 0n };
  for (const { count, quantity, credits } of some) {
    total.count += count;
    total.quantity += quantity;
    total.credits += credits;
  }
  return total;
}

export function negate({ count, quantity, credits }: Used): Used {
  return { count: -count, quantity: -quantity, credits: -credits };
}

function mergeRest(rest: readonly Point[]): Line {
  const byTime = [...Map.groupBy(rest, ({ at }) => at)].sort(([a], [b]) => a - b);
  return toLine(
    labelOf(null),
    byTime.map(([at, some]) => ({ at, ...sum(some) })),
  );
}

function subtract(all: Line, lines: readonly Line[]): Line | null {
  const negative = lines.flatMap((line) => line.points.map((point) => ({ at: point.at, ...negate(point) })));
  const { points } = mergeRest([...all.points, ...negative]);
  const left = points.filter(
    ({ count, quantity, credits }) => count !== 0n || quantity !== 0n || credits !== 0n,
  );
  return left.length === 0 ? null : toLine(labelOf(null), left);
}
