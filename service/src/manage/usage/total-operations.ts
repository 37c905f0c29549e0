import { Type } from "typebox";
import { REASONS } from "../../entitlement/decide.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import { reasonOf } from "../../store/cell/denials.ts";
import { listBuckets } from "../../store/cell/usage/buckets.ts";
import { chartAll, sumUsage, type UsageScope } from "../../store/cell/usage/chart.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { listUsageTotals } from "../../store/cell/usage/totals.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { customerNotFound } from "../customers/operations.ts";
import { exactTotal } from "../exact-total.ts";
import { nullable, shownCustomerName, timeField } from "../fields.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { chartSome, negate, sum } from "./chart-usage.ts";
import { customerQuery, linesField, USAGE_NOUN as NOUN, rangeOfCall } from "./operations.ts";
import {
  completeToField,
  describeRange,
  divisionQuery,
  exactUsed,
  rangeAnswer,
  rangeQuery,
  readDivision,
  UsedFields,
  UsedSum,
} from "./range.ts";
import { rankUsers, refuseTooLong } from "./rank-users.ts";
import { findCustomer, getFeature, MEASURE, measureField, readScope, scopeQuery } from "./scope.ts";
import { ABOUT_LOOK_UPS, withinSums } from "./within-sums.ts";

const access = { role: "viewer", in: "environment" } as const;
const STRICT = { additionalProperties: false };

export function usageTotalOperations(parts: ManageParts): Operation[] {
  return [totals(parts), decisions(parts), customers(parts)];
}

const reasonField = Type.Enum([...REASONS]);

function totals(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/usage/totals`,
    access,
    id: "totalUsage",
    noun: NOUN,
    summary: "Show usage totals",
    description:
      "Returns events, charges and overage by pool, and denials by reason in a range, for one customer or for all. To invoice overage, read " +
      "the totals of each customer's billing period. Use the end of one period as the start of the next. " +
      ABOUT_LOOK_UPS,
    params: Type.Object(environmentParams),
    query: Type.Object({ customerId: customerQuery, ...rangeQuery }, STRICT),
    answer: Type.Object({
      ...rangeAnswer,
      completeTo: completeToField,
      events: UsedSum,
      charges: Type.Array(Type.Object({ pool: Type.String({ examples: ["credits"] }), ...UsedFields })),
      overage: Type.Array(Type.Object({ pool: Type.String({ examples: ["credits"] }), ...UsedFields }), {
        description:
          "Overage credits used, less reversals made in the range. Negative if reversals exceed usage.",
      }),
      denials: Type.Array(Type.Object({ reason: reasonField, ...UsedFields })),
    }),
    codes: ["total_too_large"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const range = await rangeOfCall(parts, call, { isDivided: false });
      return snapshot(parts.cellOf(scopeOf(call)), async (tx) => {
        const names = new CatalogNames(await loadCatalog(tx, environmentId));
        const customer = await findCustomer(tx, environmentId, call.query.customerId);
        if (customer === null) throw customerNotFound();
        const { completeTo } = await readUsageProgress(tx);
        const walked = customer === undefined ? range : await withinSums(tx, environmentId, range, 1);
        const found = await listUsageTotals(tx, environmentId, { ...walked, customer: customer ?? null });
        const byPool = (of: "charges" | "overage") =>
          found.flatMap(({ kind, pool, ...used }) =>
            kind !== of || pool === null ? [] : [{ pool: names.pool(pool), ...exactUsed(used) }],
          );
        return {
          ...describeRange(range),
          completeTo: formatTimestamp(completeTo),
          events: exactUsed(sum(found.filter(({ kind }) => kind === "events"))),
          charges: byPool("charges"),
          overage: byPool("overage"),
          denials: found.flatMap((total) =>
            total.reason === null ? [] : [{ reason: total.reason, ...exactUsed(total) }],
          ),
        };
      });
    },
  });
}

function decisions(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/usage/decisions`,
    access,
    id: "chartDecisions",
    noun: NOUN,
    summary: "Show charges and denials over time",
    description:
      "Returns the number of charges as `allowed`, and the number of denials by reason as `denied`. Each item of a request counts as " +
      "a charge, and so does each settled hold. Replays, checks, and denials for an unknown customer or a missing plan are not counted. " +
      ABOUT_LOOK_UPS,
    params: Type.Object(environmentParams),
    query: Type.Object(
      { feature: scopeQuery.feature, customerId: customerQuery, ...rangeQuery, ...divisionQuery },
      STRICT,
    ),
    answer: Type.Object({
      ...rangeAnswer,
      completeTo: completeToField,
      buckets: Type.Array(
        Type.Object({
          at: timeField,
          allowed: Type.Integer({ examples: [1200] }),
          denied: Type.Array(Type.Object({ reason: reasonField, count: Type.Integer({ examples: [14] }) })),
        }),
        { description: "All buckets in the range, earliest first." },
      ),
    }),
    codes: ["total_too_large"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const range = await rangeOfCall(parts, call, { isDivided: true });
      const division = await readDivision(parts.cellOf(scopeOf(call)), call.query);
      return snapshot(parts.cellOf(scopeOf(call)), async (tx) => {
        const catalog = await loadCatalog(tx, environmentId);
        const customer = await findCustomer(tx, environmentId, call.query.customerId);
        if (customer === null) throw customerNotFound();
        const { completeTo } = await readUsageProgress(tx);
        const { feature } = call.query;
        const scope: UsageScope = {
          environmentId,
          kind: "charges",
          from: range.from,
          to: range.to,
          event: null,
          feature: feature === undefined ? null : getFeature(catalog, feature),
          pool: null,
        };
        const options = { ...division, by: "count", linesMax: REASONS.length } as const;
        const read = (kind: "charges" | "denials", group: "none" | "reason") =>
          customer === undefined
            ? chartAll(tx, { ...scope, kind }, group, options)
            : chartSome(tx, { ...scope, kind }, [customer], group, options);
        const allowed = new Map((await read("charges", "none")).map((point) => [point.at, point.count]));
        const denied = Map.groupBy(await read("denials", "reason"), ({ at }) => at);
        const buckets = await listBuckets(tx, range, division);
        return {
          ...describeRange(range),
          completeTo: formatTimestamp(completeTo),
          buckets: buckets.map(({ at }) => ({
            at: formatTimestamp(at),
            allowed: exactTotal(allowed.get(at) ?? 0n),
            denied: (denied.get(at) ?? []).map(({ group, count }) => ({
              reason: reasonOf(Number(group)),
              count: exactTotal(count),
            })),
          })),
        };
      });
    },
  });
}

function customers(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/usage/customers`,
    access,
    id: "rankCustomers",
    noun: NOUN,
    summary: "List the customers with the most usage",
    description:
      "Lists customers by usage, largest first. `other` combines all other customers. A range that takes more than four seconds to " +
      "read is rejected. Four seconds are enough to read daily usage for a few million combinations of customer and day.",
    params: Type.Object(environmentParams),
    query: Type.Object({ ...scopeQuery, ...rangeQuery, by: measureField, limit: linesField }, STRICT),
    answer: Type.Object({
      ...rangeAnswer,
      completeTo: completeToField,
      total: UsedSum,
      customers: Type.Array(
        Type.Object({
          customerId: nullable(
            Type.String({ description: "Null for an erased customer.", examples: ["customer_42"] }),
          ),
          customerName: shownCustomerName,
          ...UsedFields,
        }),
      ),
      other: UsedSum,
    }),
    codes: ["total_too_large"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const range = await rangeOfCall(parts, call, { isDivided: false });
      return snapshot(parts.cellOf(scopeOf(call)), async (tx) => {
        const scope = readScope(await loadCatalog(tx, environmentId), environmentId, range, call.query);
        const { completeTo } = await readUsageProgress(tx);
        const by = call.query.by ?? MEASURE[scope.kind];
        const { ranked, named, total } = await refuseTooLong("customer totals", async () => {
          const ranked = await rankUsers(tx, scope, { by, limit: Number(call.query.limit ?? "10") });
          const numbers = ranked.map(({ customerNumber }) => customerNumber);
          const named = await mapCustomers(tx, environmentId, numbers);
          return { ranked, named, total: await sumUsage(tx, scope) };
        });
        return {
          ...describeRange(range),
          completeTo: formatTimestamp(completeTo),
          total: exactUsed(total),
          customers: ranked.map(({ customerNumber, ...used }) => ({
            ...(named.get(customerNumber) ?? NO_CUSTOMER),
            ...exactUsed(used),
          })),
          other: exactUsed(sum([total, ...ranked.map(negate)])),
        };
      });
    },
  });
}
