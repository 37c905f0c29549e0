import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { parseTimestamp } from "../../../primitives/timestamp.ts";

export const DAY_MS = 24 * 3_600_000;

/** The start of the UTC day that contains `at`. */
export function utcDay(at: Instant): Instant {
  return brandAs<Instant>(Math.floor(at / DAY_MS) * DAY_MS);
}

/** Parses `2026-11-15`. Null if it is not a valid day. */
export function parseUtcDay(text: string): Instant | null {
  const parsed = parseTimestamp(`${text}T00:00:00Z`);
  return parsed.kind === "instant" ? parsed.at : null;
}
