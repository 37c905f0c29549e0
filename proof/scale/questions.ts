import { KEYS, RARE_KEY, RARE_MODEL, type World } from "./world.ts";

const DAY_MS = 24 * 3_600_000;
const QUARTER_MS = 15 * 60_000;
/** Limits for the p95. */
const PROJECT_MS_MAX = 300;
const CUSTOMER_MS_MAX = 50;
const PAGE_MS_MAX = 100;

/** A query that is sent many times with different parameters. */
export type Question = {
  readonly name: string;
  /** Limit for the p95. Null means no limit. */
  readonly msMax: number | null;
  readonly path: (call: number) => string;
};

const ZONES = ["America/New_York", "Asia/Kathmandu", "Australia/Sydney"] as const;
const BUSY = 20;

export function questionsAbout(world: World, cursors: readonly string[]): Question[] {
  return [...usageOfAll(world), ...usageOfOne(world), ...rankings(world), ...pages(world, cursors)];
}

/** A range of this many days anywhere in the 13 months. It ends at a multiple of 15 minutes. */
export function rangeOf({ from, to }: World, days: number, call: number): string {
  const room = Math.floor((to - from) / DAY_MS) - days;
  const back = ((call * 37) % room) * DAY_MS + ((call * 7) % 96) * QUARTER_MS;
  const end = Math.floor((to - back) / QUARTER_MS) * QUARTER_MS;
  return `from=${iso(end - days * DAY_MS)}&to=${iso(end)}`;
}

function usageOfAll(world: World): Question[] {
  const ask = (name: string, query: (call: number) => string): Question => ({
    name: `usage by day over 90 days${name}`,
    msMax: PROJECT_MS_MAX,
    path: (call) => `usage?${rangeOf(world, 90, call)}&${query(call)}`,
  });
  const zone = (call: number): string => ZONES[call % ZONES.length] ?? "UTC";
  return [
    ask(": events", () => "source=events"),
    ask(": events, in another zone", (call) => `source=events&timeZone=${zone(call)}`),
    ask(": events by key", () => "source=events&groupBy=event"),
    ask(": events by key, in another zone", (call) => `source=events&groupBy=event&timeZone=${zone(call)}`),
    ask(": events of one key", (call) => `source=events&event=${KEYS[call % KEYS.length]}`),
    ask(": charges", () => "source=charges"),
    ask(": charges by feature", () => "source=charges&groupBy=feature"),
    {
      name: "totals over 90 days",
      msMax: PROJECT_MS_MAX,
      path: (call) => `usage/totals?${rangeOf(world, 90, call)}`,
    },
    { name: "totals over a year", msMax: null, path: (call) => `usage/totals?${rangeOf(world, 365, call)}` },
  ];
}

function usageOfOne(world: World): Question[] {
  const ask = (name: string, path: (call: number) => string): Question => ({
    name,
    msMax: CUSTOMER_MS_MAX,
    path,
  });
  const month = (call: number): string => rangeOf(world, 31, call);
  return [
    ask("a busy customer's month by day", (call) => `usage?source=events&${busy(call)}&${month(call)}`),
    ask(
      "a busy customer's month by day and key, in another zone",
      (call) => `usage?source=events&groupBy=event&${busy(call)}&${month(call)}&timeZone=${ZONES[0]}`,
    ),
    ask(
      "an ordinary customer's month by day",
      (call) => `usage?source=events&${ordinary(world, call)}&${month(call)}`,
    ),
    ask(
      "totals of an ordinary customer's month",
      (call) => `usage/totals?${ordinary(world, call)}&${month(call)}`,
    ),
  ];
}

function rankings(world: World): Question[] {
  const ask = (name: string, days: number, path: string): Question => ({
    name,
    msMax: null,
    path: (call) => `${path}source=events&${rangeOf(world, days, call)}`,
  });
  const untilNow = (name: string, days: number): Question => ({
    name,
    msMax: null,
    path: (call) => {
      const from = Math.floor(world.to / QUARTER_MS - (call % 96)) * QUARTER_MS - days * DAY_MS;
      return `usage/customers?source=events&from=${iso(from)}`;
    },
  });
  return [
    untilNow("customers with the most usage in the last 30 days", 30),
    untilNow("customers with the most usage in the last 90 days", 90),
    ask("customers with the most usage in 30 days", 30, "usage/customers?"),
    ask("customers with the most usage in 90 days", 90, "usage/customers?"),
    ask("customers with the most usage in a year", 365, "usage/customers?"),
    ask("usage by day over 30 days, by customer", 30, "usage?groupBy=customer&"),
    ask("usage by day over 90 days, by customer", 90, "usage?groupBy=customer&"),
    ask("usage on one day, by a metadata field", 1, "usage?groupBy=metadata&metadataField=model&"),
  ];
}

function pages(world: World, cursors: readonly string[]): Question[] {
  const ask = (name: string, query: (call: number) => string): Question => ({
    name: `events${name}`,
    msMax: PAGE_MS_MAX,
    path: (call) => `events?${query(call)}`,
  });
  const past = (call: number): string => rangeOf(world, 1, call).replace(/^from=[^&]*&/, "");
  return [
    ask(", first page", (call) => `limit=${20 + (call % 181)}`),
    ask(", deep page", (call) => `cursor=${cursors[call % cursors.length]}`),
    ask(", deep page of 200", (call) => `limit=200&cursor=${cursors[(call * 7) % cursors.length]}`),
    ask(" on one day, far back", (call) => rangeOf(world, 1, call)),
    ask(" before a given time", past),
    ask(" by a frequent key", (call) => `event=${KEYS[call % 3]}&${past(call)}`),
    ask(" by a rare key", (call) => `event=${RARE_KEY}&${past(call)}`),
    ask(" by a key that no event has", (call) => `event=none-${call}&${past(call)}`),
    ask(" by common metadata", (call) => `metadata=region%3Deu&${past(call)}`),
    ask(" by rare metadata", (call) => `metadata=model%3D${RARE_MODEL}&${past(call)}`),
    ask(" of a busy customer", busy),
    ask(" of a busy customer, far back", (call) => `${busy(call)}&${past(call)}`),
    ask(" of a busy customer by a rare key", (call) => `${busy(call)}&event=${RARE_KEY}&${past(call)}`),
    ask(
      " of a busy customer by metadata",
      (call) => `${busy(call)}&metadata=model%3D${RARE_MODEL}&${past(call)}`,
    ),
    ask(" of an ordinary customer", (call) => ordinary(world, call)),
    ask(" of an ordinary customer, far back", (call) => `${ordinary(world, call)}&${past(call)}`),
    ask(" of an ordinary customer by a rare key", (call) => `${ordinary(world, call)}&event=${RARE_KEY}`),
  ];
}

function busy(call: number): string {
  return `customerId=customer_${1 + (call % BUSY)}`;
}

/** A customer of the less active half. */
function ordinary({ customers }: World, call: number): string {
  const half = Math.floor(customers / 2);
  return `customerId=customer_${customers - ((call * 7_919) % half)}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
