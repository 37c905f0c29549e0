import { choice, type SearchOf, searchOf } from "../../format/search.ts";
import { monthText } from "../months/queries.ts";

const SEARCH = {
  kind: choice(["events", "charges", "ledger", "grants"]),
  format: choice(["ndjson"]),
  month: monthText,
  from: momentOf,
  to: momentOf,
};

/** Export settings in the URL, so that other pages can link here. */
export type ExportSearch = SearchOf<typeof SEARCH>;

const readSearch = searchOf(SEARCH);

/** Two times or a month. */
export function readExportSearch(search: Record<string, unknown>): ExportSearch {
  const { month, from, to, ...wanted } = readSearch(search);
  if (from !== undefined && to !== undefined && from < to) return { ...wanted, from, to };
  return { ...wanted, ...(month === undefined ? {} : { month }) };
}

function momentOf(value: unknown): string | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
