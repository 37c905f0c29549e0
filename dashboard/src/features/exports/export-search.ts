import type { ExportFormat, ExportKind } from "../../api/export-stream.ts";
import { readMonthSearch } from "../months/month-search.ts";

/** What is to be exported; it stands in the address, so that other pages can lead here. */
export type ExportSearch = {
  kind?: ExportKind;
  format?: ExportFormat;
  month?: string;
  from?: string;
  to?: string;
};

const KINDS = ["events", "charges", "ledger", "grants"] as const;

export function readExportSearch(search: Record<string, unknown>): ExportSearch {
  const kind = KINDS.find((known) => known === search["kind"]);
  const [from, to] = [momentOf(search["from"]), momentOf(search["to"])];
  const moments = from === null || to === null || from >= to ? {} : { from, to };
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(search["format"] === "ndjson" ? { format: "ndjson" as const } : {}),
    ...("from" in moments ? moments : readMonthSearch(search)),
  };
}

function momentOf(value: unknown): string | null {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
