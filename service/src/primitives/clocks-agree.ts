import type { Instant } from "./brand.ts";

const APART_MAX_MS = 3_600_000;

/**
 * Whether the database's clock is close to this machine's. Decisions use the database's clock, which can jump ahead, for example on
 * a server whose clock is not set yet. Before anything expires permanently, both clocks must agree.
 */
export function clocksAgree(database: Instant): boolean {
  return Math.abs(database - ownClock()) <= APART_MAX_MS;
}

/** This machine's clock, as an estimate of the database's. No decision depends on it. */
export function ownClock(): number {
  return Date.now();
}
