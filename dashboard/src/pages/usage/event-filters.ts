import { type RangeSearch, readRangeSearch } from "../../words/usage-range.ts";

/** What the list is narrowed to; it stands in the address. Without a range it is all that the window shows. */
export type EventFilters = RangeSearch & { event?: string; customerId?: string; metadata?: string };

export function readEventFilters(search: Record<string, unknown>): EventFilters {
  const event = textOf(search["event"], 120);
  const customerId = textOf(search["customerId"], 255);
  const metadata = textOf(search["metadata"], 500);
  return {
    ...readRangeSearch(search, null),
    ...(event === null ? {} : { event }),
    ...(customerId === null ? {} : { customerId }),
    ...(metadata === null || !/^[^=]+=/.test(metadata) ? {} : { metadata }),
  };
}

/** A number in the address comes as one: customers may be called 42. */
function textOf(value: unknown, lengthMax: number): string | null {
  const said = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return said === "" || said.length > lengthMax ? null : said;
}
