import type { Answer, Body } from "../../api/answer.ts";
import { lowBalancesText, readLowBalances } from "../../format/low-balances.ts";

export type Alerts = Answer<"readAlerts">;
export type PoolAlerts = Alerts["pools"][string];
export type TopUpRule = NonNullable<PoolAlerts["topUp"]>;
export type AlertsBody = Body<"setAlerts">;

export const ALERTS_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/alerts";

export const MONTHLY_MAX = 1_000;

/** The form for one pool. */
export type AlertValues = {
  thresholds: "pool" | "own";
  lowBalances: string;
  requests: "no" | "yes";
  below: number;
  credits: number;
  monthlyMax: number;
};

export function toValues(alerts: PoolAlerts | undefined): AlertValues {
  const { lowBalances = null, topUp = null } = alerts ?? {};
  return {
    thresholds: lowBalances === null ? "pool" : "own",
    lowBalances: lowBalancesText(lowBalances ?? []),
    requests: topUp === null ? "no" : "yes",
    below: topUp?.below ?? 100,
    credits: topUp?.credits ?? 1_000,
    monthlyMax: topUp?.monthlyMax ?? 5,
  };
}

/** All rules of the customer, because PUT replaces them. Null if the form is invalid. */
export function toBody(alerts: Alerts, pool: string, values: AlertValues): AlertsBody | null {
  const { thresholds, lowBalances, requests, below, credits, monthlyMax } = values;
  const read = readLowBalances(thresholds === "own" ? lowBalances : "");
  const isWhole = [below, credits, monthlyMax].every((value) => Number.isInteger(value) && value >= 1);
  if ("error" in read || (requests === "yes" && !isWhole)) return null;
  const own = {
    ...(thresholds === "own" ? { lowBalances: [...read.values] } : {}),
    ...(requests === "yes" ? { topUp: { below, credits, monthlyMax } } : {}),
  };
  const { [pool]: _, ...others } = ruleOf(alerts);
  return { pools: Object.keys(own).length === 0 ? others : { ...others, [pool]: own } };
}

/** Rules without the requests. */
function ruleOf({ pools }: Alerts): AlertsBody["pools"] {
  return Object.fromEntries(
    Object.entries(pools).map(([pool, { lowBalances, topUp }]) => [
      pool,
      {
        ...(lowBalances === null ? {} : { lowBalances }),
        ...(topUp === null
          ? {}
          : { topUp: { below: topUp.below, credits: topUp.credits, monthlyMax: topUp.monthlyMax } }),
      },
    ]),
  );
}
