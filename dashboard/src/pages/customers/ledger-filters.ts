import { ENTRY_WORDS, type EntryKind } from "../../words/ledger-words.ts";

/** What the ledger is narrowed to, and the charge that is looked for; they stand in the address. */
export type LedgerFilters = { kind?: EntryKind; feature?: string; charge?: string };

export function readLedgerFilters(search: Record<string, unknown>): LedgerFilters {
  const { kind, feature, charge } = search;
  return {
    ...(isEntryKind(kind) ? { kind } : {}),
    ...(isText(feature) ? { feature } : {}),
    ...(isText(charge) ? { charge } : {}),
  };
}

/** The grant that is looked for. */
export type GrantFilters = { grant?: number };

export function readGrantFilters({ grant }: Record<string, unknown>): GrantFilters {
  return typeof grant === "number" && Number.isSafeInteger(grant) && grant > 0 ? { grant } : {};
}

function isEntryKind(value: unknown): value is EntryKind {
  return typeof value === "string" && Object.hasOwn(ENTRY_WORDS, value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 255;
}
