import { brandAs, type Instant } from "./brand.ts";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

const DAY_MS = 24 * 3_600_000;

/** Start of the UTC month that contains `at`. */
function utcMonth(at: Instant): Instant {
  const parsed = parseTimestamp(`${formatTimestamp(at).slice(0, 7)}-01T00:00:00Z`);
  return parsed.kind === "instant" ? parsed.at : at;
}

export function nextUtcMonth(month: Instant): Instant {
  return utcMonth(brandAs<Instant>(utcMonth(month) + 32 * DAY_MS));
}
