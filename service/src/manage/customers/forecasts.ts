import { type Static, Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import { decisionTime } from "../../entitlement/draft.ts";
import { averagePerDay, FORECAST_DAYS_MAX, type Forecast, forecastPool } from "../../entitlement/forecast.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { BoundedMap } from "../../primitives/bounded-map.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, readCustomerRecords } from "../../store/cell/customer-list.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { findSoonest, readRecentUse } from "../../store/cell/usage/recent-use.ts";
import { invalidField, nullable, shownCustomerName, strictObject, timeOf, timeOrNull } from "../fields.ts";
import { historyStartOf, notBefore } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import { pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { completeToField, DAY_MS } from "../usage/range.ts";
import { findLowest } from "./list-customers.ts";

/** Number of days before today that the average covers. */
const OBSERVED_DAYS = 14;
/** With many customers, only those charged today or in this many days before are included. */
const ACTIVE_DAYS = 1;
/** Maximum number of customers included, and how many are read at a time. */
const CANDIDATES_MAX = 600;
const CHUNK = 300;

const PoolForecast = Type.Object({
  pool: Type.String({ examples: ["credits"] }),
  balance: Type.Integer({ description: "Credits that can be spent.", examples: [120] }),
  usedPerDay: Type.Number({
    description: "Average of the credits charged per day, less reversals.",
    examples: [40.5],
  }),
  outlook: Type.Enum(["runs_out", "empty", "renews", "not_used", "lasts", "unlimited"], {
    description:
      "`runs_out`: the credits are used up at `emptyAt`. `empty`: no credits are left. `renews`: the plan grants new credits before. " +
      `\`not_used\`: nothing was charged recently. \`lasts\`: more than ${FORECAST_DAYS_MAX} days. \`unlimited\`: overage is unlimited.`,
  }),
  daysLeft: nullable(Type.Number({ description: "Days until `emptyAt`.", examples: [2.9] })),
  emptyAt: nullable(timeOf("When the credits, and the overage that the plan allows, are used up.")),
  renewsAt: nullable(
    timeOf("When a plan next grants credits of this pool. Null for `not_used` and `lasts`."),
  ),
});

export const CustomerForecast = Type.Object({
  customerId: Type.String({ examples: ["customer_42"] }),
  customerName: shownCustomerName,
  plan: nullable(
    Type.Object({ key: Type.String({ examples: ["pro"] }), name: Type.String({ examples: ["Pro"] }) }),
  ),
  isBlocked: Type.Boolean(),
  pools: Type.Array(PoolForecast, { description: "The pool that is used up soonest comes first." }),
});

type CustomerForecast = Static<typeof CustomerForecast>;

/** Estimates when customers use up their credits. */
export function forecastOperations({ control, cellOf }: ManageParts): Operation[] {
  const cache: Candidates = new BoundedMap(CACHED_MAX);
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/forecasts`,
      access: { role: "viewer", in: "environment" },
      id: "listForecasts",
      noun: "Customers",
      summary: "List customers by days until empty",
      description:
        `Customers whose credits run out, soonest first. Assumes that usage continues at the average of the last ${OBSERVED_DAYS} days, or since ` +
        "the customer was created, and that nobody adds credits. Expiries, renewals, pending plan changes and overage are taken into " +
        `account. With more than 10,000 customers, considers those of the newest 100,000 who were charged today or yesterday (UTC). With \`sort=balance\`: the lowest ` +
        "balances first, however long they last.",
      params: Type.Object(environmentParams),
      query: strictObject({
        limit: pageQuery.limit,
        days: Type.Optional(
          Type.String({
            pattern: "^([1-9]\\d{0,2})$",
            description: "Only customers who run out within this many days.",
            examples: ["7"],
          }),
        ),
        sort: Type.Optional(
          Type.Enum(["soonest", "balance"], {
            description: "`balance` needs `balanceBelow`, without `days`.",
          }),
        ),
        balanceBelow: Type.Optional(
          Type.String({
            pattern: "^\\d{1,15}$",
            description: "Only customers with a balance below this in any pool.",
            examples: ["100"],
          }),
        ),
      }),
      answer: Type.Object({
        since: timeOf("Start of the usage from which the average is calculated."),
        completeTo: completeToField,
        items: Type.Array(CustomerForecast),
      }),
      handle: async (call) => {
        const { cell, environmentId } = scopeOf(call);
        const { sort = "soonest", days, balanceBelow } = call.query;
        if (
          (sort === "balance") !== (balanceBelow !== undefined) ||
          (sort === "balance" && days !== undefined)
        )
          throw invalidField({
            field: "sort",
            code: "wrong_form",
            message:
              "by balance needs `balanceBelow`, without `days`; by days until empty takes no `balanceBelow`",
          });
        const start = await historyStartOf(control, call);
        return snapshot(cellOf(cell), async (tx) => {
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

type Present = {
  readonly environmentId: EnvironmentId;
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly since: Instant;
};

/**
 * Caches the customers to forecast, by environment and first day. Finding them reads the usage of all customers, so a list is reused
 * for a minute. Their balances and usage are always read.
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
): Promise<readonly CustomerNumber[]> {
  const active = notBefore(since, brandAs<Instant>(clock - ACTIVE_DAYS * DAY_MS));
  const hasPools = catalog.pools.size > 1;
  const key = `${environmentId} ${Math.floor(since / DAY_MS)} ${Math.floor(active / DAY_MS)} ${hasPools}`;
  const known = cache.find(key);
  if (known !== undefined && Math.abs(clock - known.foundAt) < CACHED_MS) return known.numbers;
  const numbers = await findSoonest(tx, environmentId, { since, active, hasPools, limit: CANDIDATES_MAX });
  cache.set(key, { foundAt: clock, numbers });
  return numbers;
}

/** The start of a UTC day, or the next full 15 minutes in the history window. */
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
  { daysMax, limit }: { readonly daysMax: number | null; readonly limit: number },
): Promise<CustomerForecast[]> {
  const { environmentId, catalog } = present;
  const hasPools = catalog.pools.size > 1;
  const numbers = await findCandidates(tx, present, cache);
  const found: CustomerForecast[] = [];
  for (let from = 0; from < numbers.length && (hasPools || found.length < limit); from += CHUNK) {
    const records = await readCustomerRecords(tx, environmentId, numbers.slice(from, from + CHUNK));
    const forecasts = await forecastAll(tx, present, records);
    found.push(
      ...forecasts.filter((forecast) => daysLeftOf(forecast) < (daysMax ?? Number.POSITIVE_INFINITY)),
    );
  }
  return found.sort((a, b) => daysLeftOf(a) - daysLeftOf(b)).slice(0, limit);
}

async function listLow(
  tx: Tx,
  present: Present,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<CustomerForecast[]> {
  const filter = { search: null, plan: null, isBlocked: null, balanceBelow: below };
  return forecastAll(tx, present, await findLowest(tx, present, filter, limit));
}

/** Infinite if no pool runs out. */
function daysLeftOf({ pools }: CustomerForecast): number {
  return pools[0]?.daysLeft ?? Number.POSITIVE_INFINITY;
}

async function forecastAll(
  tx: Tx,
  { environmentId, catalog, clock, since }: Present,
  records: readonly CustomerRecord[],
): Promise<CustomerForecast[]> {
  const numbers = records.map(({ customerNumber }) => customerNumber);
  // Whole days are read faster than parts of one.
  const to = brandAs<Instant>((Math.floor(clock / DAY_MS) + 1) * DAY_MS);
  const used = await readRecentUse(tx, environmentId, { from: since, to }, numbers);
  return records.map((record): CustomerForecast => {
    const { customerId, name, createdAt, wallet: stored } = record;
    const wallet = viewWallet(catalog, stored, clock);
    const now = decisionTime(catalog, stored, clock);
    const plan = wallet.assignment === null ? undefined : catalog.plans.get(wallet.assignment.plan);
    const inPool = (pool: PoolId, key: string) => {
      const credits = Number(used.get(record.customerNumber)?.get(pool) ?? 0n);
      const perDay = averagePerDay(credits, { since, createdAt, now });
      const balance = balanceOf(wallet, pool);
      return {
        pool: key,
        balance,
        usedPerDay: perDay,
        ...describe(forecastPool(catalog, wallet, { pool, perDay }, now), now),
      };
    };
    return {
      customerId,
      customerName: name,
      plan: plan === undefined ? null : { key: plan.key, name: plan.name },
      isBlocked: wallet.isBlocked,
      pools: [...catalog.pools.values()]
        .map(({ id, key }) => inPool(id, key))
        .sort((a, b) => (a.daysLeft ?? Number.POSITIVE_INFINITY) - (b.daysLeft ?? Number.POSITIVE_INFINITY)),
    };
  });
}

function describe(forecast: Forecast, now: Instant) {
  const emptyAt = forecast.kind === "runs_out" ? forecast.emptyAt : null;
  return {
    outlook: forecast.kind,
    daysLeft: emptyAt === null ? null : (emptyAt - now) / DAY_MS,
    emptyAt: timeOrNull(emptyAt),
    renewsAt: "renewsAt" in forecast ? timeOrNull(forecast.renewsAt) : null,
  };
}
