import { countOf } from "./numbers.ts";
import { type Clock, formatDay } from "./times.ts";

/** The forecast for one pool, as the API returns it. */
export type PoolForecast = {
  readonly outlook: "runs_out" | "empty" | "renews" | "not_used" | "lasts" | "unlimited";
  readonly daysLeft: number | null;
  readonly renewsAt: string | null;
};

export const FORECAST_ASSUMES =
  "Based on average daily usage over the last 14 days. Accounts for expiries and renewals, but not top-ups.";

/** "Empty in about 3 days", "Renews 8 Dec 2026". */
export function describeForecast({ outlook, daysLeft, renewsAt }: PoolForecast, clock: Clock): string {
  const renewal = renewsAt === null ? null : `Renews ${formatDay(renewsAt, clock)}`;
  switch (outlook) {
    case "runs_out":
      return describeDays(daysLeft ?? 0);
    case "empty":
      return renewal === null ? "Empty" : `Empty. ${renewal}`;
    case "renews":
      return renewal ?? "Renews";
    case "not_used":
      return "Not used recently";
    case "lasts":
      return "Lasts more than a year";
    case "unlimited":
      return "Unlimited overage";
  }
}

function describeDays(days: number): string {
  return days < 1 ? "Empty in less than a day" : `Empty in about ${countOf(Math.round(days), "day")}`;
}

/** How soon to act: "bad" if the credits are gone or last less than 3 days, "warn" if they last less than 2 weeks. */
export function urgencyOf({ outlook, daysLeft }: PoolForecast): "bad" | "warn" | null {
  if (outlook === "empty") return "bad";
  if (outlook !== "runs_out" || daysLeft === null) return null;
  return daysLeft < 3 ? "bad" : daysLeft < 14 ? "warn" : null;
}

/** "+12%" compared with the period before. */
export function describeTrend(now: number, before: number): string {
  if (before === 0) return now === 0 ? "No change" : "None before";
  const percent = Math.round(((now - before) / before) * 100);
  return percent === 0 ? "No change" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)}%`;
}
