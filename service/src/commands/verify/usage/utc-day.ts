import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { parseTimestamp } from "../../../primitives/timestamp.ts";

export const DAY_MS = 24 * 3_600_000;

/** The first moment of its UTC day. */
export function utcDay(at: Instant): Instant {
  return brandAs<Instant>(Math.floor(at / DAY_MS) * DAY_MS);
}

/** Of `2026-11-15`. Null: not a day. */
export function parseUtcDay(text: string): Instant | null {
  const parsed = parseTimestamp(`${text}T00:00:00Z`);
  return parsed.kind === "instant" ? parsed.at : null;
}
