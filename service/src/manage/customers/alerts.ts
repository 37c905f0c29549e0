import { type Static, Type } from "typebox";
import { ALERT_POOLS_MAX, type PoolAlerts } from "../../entitlement/alerts.ts";
import { type Catalog, getPool } from "../../entitlement/catalog.ts";
import { setAlerts as decideAlerts } from "../../entitlement/set-alerts.ts";
import { needsTopUp, requestsInMonth } from "../../entitlement/top-ups.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, CustomerNumber, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { nameTopUp } from "../../primitives/top-up-id.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { LOW_BALANCES_MAX } from "../catalog/bounds.ts";
import { unknownKey } from "../catalog/problems.ts";
import { lowBalance } from "../catalog/schema.ts";
import type { Context } from "../context.ts";
import { nullable, strictObject, timeOf } from "../fields.ts";
import { refuseEarlyNotices } from "../refuse-unfinished-upgrade.ts";
import { walletTransaction } from "../wallet-transaction.ts";

const lowBalances = nullable(
  Type.Array(lowBalance, {
    // Checked before `uniqueItems`, which would take seconds for thousands of items.
    maxItems: LOW_BALANCES_MAX,
    uniqueItems: true,
    description:
      "Thresholds for `balance.low`, which replace the pool's thresholds. Empty: no thresholds. Null: the pool's thresholds.",
    examples: [[500]],
  }),
);

const rule = {
  below: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000_000,
    description:
      "A top-up is requested if the balance is below this value. Held credits are part of the balance.",
    examples: [200],
  }),
  credits: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000_000,
    description: "The number of credits to request, as `credits` in `topup.due`.",
    examples: [1000],
  }),
  monthlyMax: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description:
      "Maximum number of top-ups that are requested in a calendar month, in UTC. Repeats in the same month do not count.",
    examples: [5],
  }),
};

export const AlertsBody = strictObject({
  pools: Type.Record(
    Type.String(),
    strictObject({
      lowBalances: Type.Optional(lowBalances),
      topUp: Type.Optional(nullable(strictObject(rule))),
    }),
    {
      maxProperties: ALERT_POOLS_MAX,
      description: "Rules by pool key. Pools that are not listed have no rules.",
    },
  ),
});

export type AlertsBody = Static<typeof AlertsBody>;

export const Alerts = Type.Object(
  {
    pools: Type.Record(
      Type.String(),
      Type.Object({
        lowBalances,
        topUp: nullable(
          Type.Object({
            ...rule,
            requestedThisMonth: Type.Integer({
              description: "Top-ups requested in the current calendar month, in UTC.",
              examples: [1],
            }),
            open: nullable(
              Type.Object(
                {
                  topUpId: Type.String({
                    description: "The same in every attempt.",
                    examples: ["top_01m7tqdg020000001c00000001"],
                  }),
                  attempt: Type.Integer({
                    description:
                      "The number of requests for this top-up. Repeats follow after 24 hours, then after 2, 4, 8, 16 and every 32 days.",
                    examples: [1],
                  }),
                  requestedAt: timeOf("Time of the first attempt."),
                  isNeeded: Type.Boolean({
                    description:
                      "False if the balance is no longer below the rule, or if the customer is blocked or has no assigned plan. " +
                      "Don't charge the customer then.",
                  }),
                },
                {
                  description:
                    "The open request, which no purchase has closed. Null if there is none. While the rule is removed, the request is " +
                    "kept but not shown.",
                },
              ),
            ),
          }),
        ),
      }),
    ),
  },
  { description: "Custom thresholds and top-up rules for this customer, by pool." },
);

export type Alerts = Static<typeof Alerts>;

type Described = {
  /** With all due changes applied. */
  readonly wallet: Wallet;
  readonly customerNumber: CustomerNumber;
  readonly at: Instant;
};

export function describeAlerts(catalog: Catalog, { wallet, customerNumber, at }: Described): Alerts {
  const { alerts } = wallet;
  const pools = alerts.pools.map(({ pool, topUp, ...own }): [string, Alerts["pools"][string]] => {
    const known = alerts.topUps.find((other) => other.pool === pool);
    const open = known?.open ?? null;
    const described = topUp && {
      ...topUp,
      requestedThisMonth: requestsInMonth(known, at),
      open: open && {
        topUpId: nameTopUp({ ...open, customerNumber }),
        attempt: open.attempt,
        requestedAt: formatTimestamp(open.requestedAt),
        isNeeded: needsTopUp(wallet, pool, topUp),
      },
    };
    return [
      getPool(catalog, pool).key,
      { lowBalances: own.lowBalances && [...own.lowBalances], topUp: described },
    ];
  });
  return { pools: Object.fromEntries(pools) };
}

export type SetAlertsOutcome = { kind: "changed" | "unchanged" | "customer_not_found" };

/** Replaces a customer's thresholds and rules. Safe to repeat. */
export function setAlerts(
  cell: Pool,
  context: Context,
  { customerId, pools }: AlertsBody & { readonly customerId: CustomerId },
): Promise<SetAlertsOutcome> {
  return walletTransaction<SetAlertsOutcome>(
    cell,
    context,
    customerId,
    async (tx) => {
      const open = await openWallet(tx, context, customerId);
      if (open === null) return { kind: "customer_not_found" };
      const { catalog, wallet, clock, customerNumber } = open;
      const { kind, change } = decideAlerts(catalog, wallet, findPools(catalog, pools), clock);
      if (kind === "changed") await refuseEarlyNotices(tx, "Alerts");
      const describe = (described: Wallet): Alerts =>
        describeAlerts(catalog, { wallet: described, customerNumber, at: clock });
      const audit = {
        action: "alerts.set",
        subject: "alerts",
        before: { alerts: describe(viewWallet(catalog, wallet, clock)) },
        after: { alerts: describe(change?.wallet ?? wallet) },
      };
      await saveEdits(tx, { ...context, clock }, [
        { ...open, change, audits: kind === "changed" ? [audit] : [] },
      ]);
      return { kind };
    },
    ({ kind }) => kind !== "customer_not_found",
  );
}

function findPools(catalog: Catalog, pools: AlertsBody["pools"]): PoolAlerts[] {
  const ids = new Map([...catalog.pools.values()].map(({ id, key }) => [key, id]));
  return Object.entries(pools).map(([key, { lowBalances: own = null, topUp = null }]) => {
    const pool = ids.get(key);
    if (pool === undefined) throw unknownKey({ noun: "pool", key });
    return { pool, lowBalances: own, topUp };
  });
}
