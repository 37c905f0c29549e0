import { Type } from "typebox";
import { UP_TO_100 } from "../../edge/field-errors.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { listBuckets } from "../../store/cell/usage/buckets.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { customerNotFound } from "../customers/operations.ts";
import { invalidField, nullable, timeField } from "../fields.ts";
import {
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  principalOf,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import {
  chartUsage,
  describeLine,
  GROUPED_ROWS_MAX,
  type Grouping,
  holdRows,
  sum,
  UsageLine,
} from "./chart-usage.ts";
import {
  completeToField,
  describeRange,
  divisionQuery,
  exactUsed,
  rangeAnswer,
  rangeQuery,
  readDivision,
  readRange,
  UsedSum,
} from "./range.ts";
import { type AskedScope, findCustomer, MEASURE, measureField, readScope, scopeQuery } from "./scope.ts";
import { ABOUT_LOOK_UPS } from "./within-sums.ts";

export const USAGE_NOUN = "Usage";
const count = (value: number): string => value.toLocaleString("en");

export const linesField = Type.Optional(
  Type.String({
    pattern: UP_TO_100,
    description: "Number of lines to return, largest first: 1 to 100. Default: 10.",
    examples: ["10"],
  }),
);

export const customerQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: "Only this customer.",
    examples: ["customer_42"],
  }),
);

/** The requested range, limited to the workspace's history window. */
export function rangeOfCall(
  { control, cellOf }: ManageParts,
  call: Call<unknown, { from?: string; to?: string; bucket?: "hour" | "day" | "month" }>,
  { isDivided }: { readonly isDivided: boolean },
) {
  const { from, to, bucket = "day" } = call.query;
  const pools = { control, cell: cellOf(scopeOf(call)) };
  return readRange(pools, principalOf(call).workspaceId, {
    from,
    to,
    bucket: isDivided ? bucket : undefined,
  });
}

export function usageOperations(parts: ManageParts): Operation[] {
  return [chart(parts)];
}

const groupBy = Type.Optional(
  Type.Enum(["feature", "event", "reason", "customer", "member", "metadata"], {
    description:
      "How to group usage into lines. Charges: `feature`, `customer`, `member` or `metadata`. Denials: `feature`, `reason` or " +
      "`customer`. Overage: `feature` or `customer`. Events: `event`, `customer`, `member` or `metadata`. Grouping by `member` requires `customerId`.",
  }),
);

function chart(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/usage`,
    access: { role: "viewer", in: "environment" },
    id: "chartUsage",
    noun: USAGE_NOUN,
    summary: "Show usage over time",
    description:
      "Returns exact sums of charges, events, denials or overage. Usage is counted at the time it occurred, so a late event changes past " +
      "totals. A reversal reduces quantity and credits at the time of the reversal. The response has the largest lines, and combines " +
      "all other usage in `other`. Grouping by member or metadata reads individual rows, and is rejected if the range has more than " +
      `${count(GROUPED_ROWS_MAX)} rows for the customer or environment. ` +
      ABOUT_LOOK_UPS,
    params: Type.Object(environmentParams),
    query: Type.Object(
      {
        ...scopeQuery,
        customerId: customerQuery,
        ...rangeQuery,
        ...divisionQuery,
        groupBy,
        metadataField: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: "The top-level metadata field to group by. Only with `groupBy=metadata`.",
            examples: ["model"],
          }),
        ),
        by: measureField,
        limit: linesField,
      },
      { additionalProperties: false },
    ),
    answer: Type.Object({
      ...rangeAnswer,
      completeTo: completeToField,
      buckets: Type.Array(timeField, {
        description:
          "The start of each bucket. The first and last buckets may extend beyond the range. A bucket that starts at a clock " +
          "change may start an hour earlier or half an hour later than shown.",
      }),
      total: UsedSum,
      lines: Type.Array(UsageLine, { description: "Largest first." }),
      other: nullable(UsageLine),
    }),
    codes: ["total_too_large"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const range = await rangeOfCall(parts, call, { isDivided: true });
      const division = await readDivision(parts.cellOf(scopeOf(call)), call.query);
      const grouping = readGrouping(call.query);
      const { source = "charges" } = call.query;
      return snapshot(parts.cellOf(scopeOf(call)), async (tx) => {
        if ("field" in grouping && (source === "events" || source === "charges")) await holdRows(tx, source);
        const catalog = await loadCatalog(tx, environmentId);
        const scope = readScope(catalog, environmentId, range, call.query);
        const customer = await findCustomer(tx, environmentId, call.query.customerId);
        if (customer === null) throw customerNotFound();
        const { completeTo } = await readUsageProgress(tx);
        const buckets = await listBuckets(tx, range, division);
        const { lines, other } = await chartUsage(tx, catalog, scope, {
          ...division,
          grouping,
          customer: customer ?? null,
          windowStart: range.windowStart,
          by: call.query.by ?? MEASURE[scope.kind],
          linesMax: Number(call.query.limit ?? "10"),
        });
        return {
          ...describeRange(range),
          completeTo: formatTimestamp(completeTo),
          buckets: buckets.map(({ at }) => formatTimestamp(at)),
          total: exactUsed(sum([...lines, ...(other === null ? [] : [other])].map(({ total }) => total))),
          lines: lines.map(describeLine),
          other: other === null ? null : describeLine(other),
        };
      });
    },
  });
}

function readGrouping(
  query: AskedScope & {
    readonly groupBy?: "feature" | "event" | "reason" | "customer" | "member" | "metadata";
    readonly metadataField?: string;
    readonly customerId?: string;
  },
): Grouping {
  const { source = "charges", groupBy: by = "none", metadataField: field } = query;
  const fits = {
    none: true,
    customer: true,
    event: source === "events",
    feature: source !== "events",
    reason: source === "denials",
    member: source === "events" || source === "charges",
    metadata: source === "events" || source === "charges",
  } as const;
  const refuse = (name: string, message: string): never => {
    throw invalidField({ field: name, code: "wrong_form", message });
  };
  if (by === "member" && query.customerId === undefined)
    return refuse("customerId", "is required with `groupBy=member`, because members belong to a customer");
  if (!fits[by]) return refuse("groupBy", `cannot be combined with \`source=${source}\``);
  if (by !== "metadata") {
    if (field !== undefined) return refuse("metadataField", "is only allowed with `groupBy=metadata`");
    return by === "member" ? { by, field: null } : { by };
  }
  return field === undefined ? refuse("metadataField", "is required with `groupBy=metadata`") : { by, field };
}
