import type { Instant } from "./brand.ts";

const APART_MAX_MS = 3_600_000;

/**
 * Whether the database's clock is near this machine's. Time is the database's; but what a clock ended that jumped ahead, as of a
 * server whose own is not set yet, would not come back with it. So before something ends for good both are asked.
 */
export function clocksAgree(database: Instant): boolean {
  return Math.abs(database - Date.now()) <= APART_MAX_MS;
}
