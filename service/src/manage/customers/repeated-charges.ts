import { Type } from "typebox";
import { getFeatureKey } from "../../entitlement/catalog.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { mapCustomers } from "../../store/cell/customers.ts";
import {
  findReadSince,
  findRepeating,
  listRecentCharges,
  type RecentCharge,
} from "../../store/cell/repeated-charges.ts";
import { shownCustomerName, timeOf } from "../fields.ts";
import { describeWindow, historyStartOf, notBefore, windowAnswer } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { DAY_MS } from "../usage/range.ts";

const DAYS = 7;
const WITHIN_MS = 60_000;
/** Longer series are treated as normal usage, not as duplicates. */
const RUN_MAX = 5;
const ITEMS_MAX = 50;

export const RepeatedCharge = Type.Object({
  customerId: Type.String({ examples: ["customer_42"] }),
  customerName: shownCustomerName,
  feature: Type.String({ examples: ["image.render"] }),
  featureName: Type.String({ examples: ["Image rendering"] }),
  quantity: Type.Integer({ description: "The quantity of each charge.", examples: [1] }),
  charges: Type.Integer({ description: "The number of charges in the series.", examples: [2] }),
  credits: Type.Integer({
    description: "Credits and overage of all charges in the series except the first.",
    examples: [10],
  }),
  sequence: Type.Integer({ description: "The ledger `sequence` of the last charge.", examples: [17] }),
  recordedAt: timeOf("Time of the last charge."),
});

/** Finds charges that may have been sent twice by mistake. */
export function repeatedChargeOperations({ control, cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/repeated-charges`,
      access: { role: "viewer", in: "environment" },
      id: "listRepeatedCharges",
      noun: "Customers",
      summary: "List possible double charges",
      description:
        `Finds series of 2 to ${RUN_MAX} charges of one customer with the same feature, quantity and member, each within a minute of ` +
        `the previous charge. Free and fully reversed charges are ignored. Lists at most ${ITEMS_MAX} series, newest first.\n\n` +
        `Examines the newest 20,000 logged requests of the last ${DAYS} days, and the newest 500 ledger entries of each customer.`,
      params: Type.Object(environmentParams),
      answer: Type.Object({
        items: Type.Array(RepeatedCharge),
        examinedSince: timeOf(
          "All requests logged at or after this time were examined. Some earlier requests may also have been examined.",
        ),
        ...windowAnswer,
      }),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const start = await historyStartOf(control, call);
        return snapshot(cellOf(scopeOf(call)), async (tx) => {
          const catalog = await loadCatalog(tx, environmentId);
          const since = notBefore(start, brandAs<Instant>((await readClock(tx)) - DAYS * DAY_MS));
          const { numbers, examinedSince: loggedSince } = await findRepeating(tx, environmentId, {
            since,
            withinMs: WITHIN_MS,
            runMax: RUN_MAX,
          });
          const charges = await listRecentCharges(tx, environmentId, numbers);
          const readSince = (await findReadSince(tx, numbers)) ?? loggedSince;
          const named = await mapCustomers(tx, environmentId, numbers);
          const features = new Map([...catalog.features.values()].map(({ id, name }) => [id, name]));
          const found = findRuns(charges.filter(({ recordedAt }) => recordedAt >= since))
            .flatMap((run) => {
              const [first, last] = [run[0], run.at(-1)];
              const customer = first === undefined ? undefined : named.get(first.customerNumber);
              if (first === undefined || last === undefined || customer === undefined) return [];
              const feature = getFeatureKey(catalog, first.feature);
              return {
                customerId: customer.customerId,
                customerName: customer.customerName,
                feature,
                featureName: features.get(first.feature) ?? feature,
                quantity: first.quantity,
                charges: run.length,
                credits: run.slice(1).reduce((sum, { credits, overage }) => sum + credits + overage, 0),
                sequence: last.sequence,
                recordedAt: last.recordedAt,
              };
            })
            .sort((a, b) => b.recordedAt - a.recordedAt);
          const shown = found.slice(0, ITEMS_MAX);
          const oldestShown = shown.at(-1);
          const isComplete = found.length === shown.length || oldestShown === undefined;
          const examinedSince = brandAs<Instant>(
            Math.max(loggedSince, readSince, isComplete ? since : oldestShown.recordedAt),
          );
          const items = shown.map((item) => ({ ...item, recordedAt: formatTimestamp(item.recordedAt) }));
          return { items, examinedSince: formatTimestamp(examinedSince), ...describeWindow(start) };
        });
      },
    }),
  ];
}

/** Finds series of similar charges, each within a minute of the previous charge. Expects the oldest charge first. */
function findRuns(charges: readonly RecentCharge[]): RecentCharge[][] {
  const alike = Map.groupBy(
    charges.filter(
      ({ credits, overage, quantity, reversedQuantity }) =>
        credits + overage > 0 && reversedQuantity < quantity,
    ),
    ({ customerNumber, pool, feature, quantity, memberId }) =>
      JSON.stringify([customerNumber, pool, feature, quantity, memberId]),
  );
  return [...alike.values()].flatMap(splitRuns).filter(({ length }) => length > 1 && length <= RUN_MAX);
}

function splitRuns(charges: readonly RecentCharge[]): RecentCharge[][] {
  const runs: RecentCharge[][] = [];
  for (const charge of charges) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && charge.recordedAt - last.recordedAt <= WITHIN_MS)
      run.push(charge);
    else runs.push([charge]);
  }
  return runs;
}
