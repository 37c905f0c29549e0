import { choice, type SearchOf, searchOf } from "../../format/search.ts";
import { rangeName } from "../../format/usage-range.ts";
import { monthText } from "../months/queries.ts";

const SEARCH = {
  kind: choice(["events", "charges", "ledger", "grants"]),
  format: choice(["ndjson"]),
  month: monthText,
  range: rangeName,
  from: momentOf,
  to: momentOf,
};

/** Export settings in the URL, so that other pages can link here. */
export type ExportSearch = SearchOf<typeof SEARCH>;

const readSearch = searchOf(SEARCH);

/** Reads the range from the URL: two times, a named range or a month. */
export function readExportSearch(search: Record<string, unknown>): ExportSearch {
  const { month, range, from, to, ...wanted } = readSearch(search);
  if (from !== undefined && to !== undefined && from < to) return { ...wanted, from, to };
  if (range !== undefined) return { ...wanted, range };
  return { ...wanted, ...(month === undefined ? {} : { month }) };
}

function momentOf(value: unknown): string | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
