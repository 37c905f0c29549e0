import { type Static, Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import { decisionTime } from "../../entitlement/draft.ts";
import { averagePerDay, FORECAST_DAYS_MAX, type Forecast, forecastPool } from "../../entitlement/forecast.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant, type PoolId } from "../../primitives/brand.ts";
import type { CustomerRecord } from "../../store/cell/customer-list.ts";
import { readRecentUse } from "../../store/cell/usage/recent-use.ts";
import { nullable, shownCustomerName, timeOf, timeOrNull } from "../fields.ts";
import { DAY_MS } from "../usage/range.ts";

const PoolForecast = Type.Object({
  pool: Type.String({ examples: ["credits"] }),
  balance: Type.Integer({ description: "Credits that can be spent.", examples: [120] }),
  usedPerDay: Type.Number({
    description: "Average credits charged per day, minus reversals.",
    examples: [40.5],
  }),
  outlook: Type.Enum(["runs_out", "empty", "renews", "not_used", "lasts", "unlimited"], {
    description:
      "- `runs_out`: the credits run out at `emptyAt`.\n" +
      "- `empty`: no credits are left.\n" +
      "- `renews`: the plan grants new credits before the current credits run out.\n" +
      "- `not_used`: nothing was charged recently.\n" +
      `- \`lasts\`: the credits last more than ${FORECAST_DAYS_MAX} days.\n` +
      "- `unlimited`: overage is unlimited.",
  }),
  daysLeft: nullable(Type.Number({ description: "Days until `emptyAt`.", examples: [2.9] })),
  emptyAt: nullable(timeOf("When the credits and any overage allowed by the plan run out.")),
  renewsAt: nullable(
    timeOf("When a plan next grants credits in this pool. Null if the `outlook` is `not_used` or `lasts`."),
  ),
});

export const CustomerForecast = Type.Object({
  customerId: Type.String({ examples: ["customer_42"] }),
  customerName: shownCustomerName,
  customerEmail: nullable(Type.String({ examples: ["billing@acme.example"] })),
  plan: nullable(
    Type.Object({ key: Type.String({ examples: ["pro"] }), name: Type.String({ examples: ["Pro"] }) }),
  ),
  isBlocked: Type.Boolean(),
  pools: Type.Array(PoolForecast, { description: "Pools that run out first are listed first." }),
});

export type CustomerForecast = Static<typeof CustomerForecast>;

/** The time and catalog that a forecast uses. */
export type Present = {
  readonly environmentId: EnvironmentId;
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly since: Instant;
};

/** Forecasts when these customers run out of credits, for each pool. */
export async function forecastAll(
  tx: Tx,
  { environmentId, catalog, clock, since }: Present,
  records: readonly CustomerRecord[],
): Promise<CustomerForecast[]> {
  const numbers = records.map(({ customerNumber }) => customerNumber);
  // Whole days are faster to read than partial days.
  const to = brandAs<Instant>((Math.floor(clock / DAY_MS) + 1) * DAY_MS);
  const used = await readRecentUse(tx, environmentId, { from: since, to }, numbers);
  return records.map((record): CustomerForecast => {
    const { customerId, name, email, createdAt, wallet: stored } = record;
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
      customerEmail: email,
      plan: plan === undefined ? null : { key: plan.key, name: plan.name },
      isBlocked: wallet.isBlocked,
      pools: [...catalog.pools.values()].map(({ id, key }) => inPool(id, key)).sort(bySoonest),
    };
  });
}

type PoolForecast = Static<typeof PoolForecast>;

/** Sorts pools by when they run out, soonest first, then by usage, highest first. */
function bySoonest(a: PoolForecast, b: PoolForecast): number {
  const never = FORECAST_DAYS_MAX + 1;
  return (a.daysLeft ?? never) - (b.daysLeft ?? never) || b.usedPerDay - a.usedPerDay;
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
