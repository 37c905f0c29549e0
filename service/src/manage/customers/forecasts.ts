import { Type } from "typebox";
import type { Tx } from "../../postgres/statement.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { BoundedMap } from "../../primitives/bounded-map.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { readCustomerRecords } from "../../store/cell/customer-list.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { findEmpty, findSoonest } from "../../store/cell/usage/recent-use.ts";
import { invalidField, strictObject, timeOf } from "../fields.ts";
import { historyStartOf, notBefore } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import { pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { completeToField, DAY_MS } from "../usage/range.ts";
import { CustomerForecast, forecastAll, type Present } from "./forecast-customers.ts";
import { findLowest } from "./list-customers.ts";

/** The average usage covers today and this many previous days. */
const OBSERVED_DAYS = 14;
/** With many customers, only those charged today or in the preceding `ACTIVE_DAYS` days are included. */
const ACTIVE_DAYS = 1;
/** Maximum number of customers that a response considers. */
const CANDIDATES_MAX = 600;
/** Number of customers read per query. */
const CHUNK = 300;
/** Maximum number of listed customers without credits. Leaves room for customers whose credits run out soon. */
const EMPTY_MAX = 50;

/** Estimates when customers run out of credits. */
export function forecastOperations({ control, cellOf }: ManageParts): Operation[] {
  const cache: Candidates = new BoundedMap(CACHED_MAX);
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/forecasts`,
      access: { role: "viewer", in: "environment" },
      id: "listForecasts",
      noun: "Customers",
      summary: "List customers by when their credits run out",
      description:
        "Lists customers whose credits run out, soonest first. The forecast includes expiries, renewals, pending plan changes and " +
        "overage. It assumes that:\n\n" +
        `- Usage continues at the average of the last ${OBSERVED_DAYS} days, or of the time since the customer was created if that ` +
        "is shorter.\n" +
        "- Nobody adds credits.\n\n" +
        "With `sort=balance`, customers with the lowest balances come first, even if their credits never run out. With `sort=soonest`, " +
        "only the newest 100,000 customers are considered. If there are more than 10,000 customers, only customers who were charged " +
        "today or yesterday (UTC) are considered.",
      params: Type.Object(environmentParams),
      query: strictObject({
        limit: pageQuery.limit,
        days: Type.Optional(
          Type.String({
            pattern: "^([1-9]\\d{0,2})$",
            description: "Only customers whose credits run out within this many days.",
            examples: ["7"],
          }),
        ),
        sort: Type.Optional(
          Type.Enum(["soonest", "balance"], {
            description:
              "Default: `soonest`. `balance` requires `balanceBelow`, and cannot be combined with `days`.",
          }),
        ),
        empty: Type.Optional(
          Type.Enum(["true", "false"], {
            description:
              "If `true`, customers who have no credits and were recently charged or denied are listed first. Cannot be combined with " +
              "`sort=balance`.",
          }),
        ),
        balanceBelow: Type.Optional(
          Type.String({
            pattern: "^\\d{1,15}$",
            description: "Only customers whose balance is below this value in at least one pool.",
            examples: ["100"],
          }),
        ),
      }),
      answer: Type.Object({
        since: timeOf("Start of the period from which the average usage is calculated."),
        completeTo: completeToField,
        items: Type.Array(CustomerForecast),
      }),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const { sort = "soonest", days, balanceBelow, empty = "false" } = call.query;
        if (
          (sort === "balance") !== (balanceBelow !== undefined) ||
          (sort === "balance" && (days !== undefined || empty === "true"))
        )
          throw invalidField({
            field: "sort",
            code: "wrong_form",
            message:
              "must be `balance` if `balanceBelow` is sent, and only then. `balance` cannot be combined with `days` or `empty=true`",
          });
        const start = await historyStartOf(control, call);
        return snapshot(cellOf(scopeOf(call)), async (tx) => {
          const catalog = await loadCatalog(tx, environmentId);
          const clock = await readClock(tx);
          const since = sinceOf(clock, start);
          const present = { environmentId, catalog, clock, since };
          const limit = readLimit(call.query.limit);
          const below = balanceBelow === undefined ? null : Number(balanceBelow);
          const items =
            below === null
              ? await listSoonest(tx, present, cache, {
                  daysMax: days === undefined ? null : Number(days),
                  hasEmpty: empty === "true",
                  limit,
                })
              : await listLow(tx, present, { below, limit });
          const { completeTo } = await readUsageProgress(tx);
          return { since: formatTimestamp(since), completeTo: formatTimestamp(completeTo), items };
        });
      },
    }),
  ];
}

/**
 * Caches for one minute which customers to forecast, because finding these customers reads the usage of all customers. The key contains
 * the environment and the first day. Balances and usage are not cached.
 */
type Candidates = BoundedMap<
  string,
  { readonly foundAt: Instant; readonly numbers: readonly CustomerNumber[] }
>;
const CACHED_MAX = 100;
const CACHED_MS = 60_000;

async function findCandidates(
  tx: Tx,
  { environmentId, catalog, clock, since }: Present,
  cache: Candidates,
  which: "soonest" | "empty",
): Promise<readonly CustomerNumber[]> {
  const active = notBefore(since, brandAs<Instant>(clock - ACTIVE_DAYS * DAY_MS));
  const hasPools = catalog.pools.size > 1;
  const days = [since, active].map((at) => Math.floor(at / DAY_MS));
  const key = [environmentId, ...days, hasPools, which].join(" ");
  const known = cache.find(key);
  if (known !== undefined && Math.abs(clock - known.foundAt) < CACHED_MS) return known.numbers;
  const numbers =
    which === "empty"
      ? await findEmpty(tx, environmentId, { since, active, limit: EMPTY_MAX })
      : await findSoonest(tx, environmentId, { since, active, hasPools, limit: CANDIDATES_MAX });
  cache.set(key, { foundAt: clock, numbers });
  return numbers;
}

/** Returns the start of a UTC day, or of the first 15-minute bucket within the history window. */
function sinceOf(clock: Instant, start: Instant | null): Instant {
  const today = Math.floor(clock / DAY_MS) * DAY_MS;
  const since = notBefore(start, brandAs<Instant>(today - OBSERVED_DAYS * DAY_MS));
  const bucketMs = DAY_MS / 96;
  return brandAs<Instant>(Math.ceil(since / bucketMs) * bucketMs);
}

async function listSoonest(
  tx: Tx,
  present: Present,
  cache: Candidates,
  {
    daysMax,
    hasEmpty,
    limit,
  }: { readonly daysMax: number | null; readonly hasEmpty: boolean; readonly limit: number },
): Promise<CustomerForecast[]> {
  const { environmentId, catalog } = present;
  const hasPools = catalog.pools.size > 1;
  const numbers = await findCandidates(tx, present, cache, "soonest");
  const found: CustomerForecast[] = [];
  for (let from = 0; from < numbers.length && (hasPools || found.length < limit); from += CHUNK) {
    const records = await readCustomerRecords(tx, environmentId, numbers.slice(from, from + CHUNK));
    const forecasts = await forecastAll(tx, present, records);
    found.push(
      ...forecasts.filter((forecast) => daysLeftOf(forecast) < (daysMax ?? Number.POSITIVE_INFINITY)),
    );
  }
  const soonest = found.sort((a, b) => daysLeftOf(a) - daysLeftOf(b));
  return [...(hasEmpty ? await listEmpty(tx, present, cache) : []), ...soonest].slice(0, limit);
}

/** Lists customers without credits, sorted by number of requests, highest first. */
async function listEmpty(tx: Tx, present: Present, cache: Candidates): Promise<CustomerForecast[]> {
  const { environmentId } = present;
  const numbers = await findCandidates(tx, present, cache, "empty");
  const place = new Map(numbers.map((number, index) => [number, index]));
  const records = await readCustomerRecords(tx, environmentId, numbers);
  const sorted = records.toSorted(
    (a, b) => (place.get(a.customerNumber) ?? 0) - (place.get(b.customerNumber) ?? 0),
  );
  const forecasts = await forecastAll(tx, present, sorted);
  // The stored balance may not include a due renewal, and overage may remain.
  return forecasts.filter(({ pools }) => pools.every(({ outlook }) => outlook === "empty"));
}

async function listLow(
  tx: Tx,
  present: Present,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<CustomerForecast[]> {
  const filter = { search: null, plan: null, isBlocked: null, balanceBelow: below };
  return forecastAll(tx, present, await findLowest(tx, present, filter, limit));
}

/** Days until the first pool runs out, or infinity if no pool runs out. */
function daysLeftOf({ pools }: CustomerForecast): number {
  return pools[0]?.daysLeft ?? Number.POSITIVE_INFINITY;
}
