import type { Entry, Grant, LedgerLine } from "./queries.ts";

const CHARGES_WITHIN_MS = 60_000;
const TOP_UPS_WITHIN_MS = 600_000;

/** A longer run of similar entries is normal usage, not duplicates. */
const ROW_MAX = 5;

export type Duplicate = { readonly before: Entry; readonly gapMs: number };

/** Possible duplicates: maps an entry's number to the earlier similar entry. Input is newest first. */
export function findDuplicates(
  lines: readonly LedgerLine[],
  grantOf: (entry: Entry) => Grant | null,
): Map<number, Duplicate> {
  const rows = new Map<string, Entry[]>();
  const finished: Entry[][] = [];
  for (const { entry } of lines.toReversed()) {
    const likeness = describeLikeness(entry, grantOf);
    if (likeness === null) continue;
    const row = rows.get(likeness) ?? [];
    const last = row.at(-1);
    if (last !== undefined && gapBetween(last, entry) <= windowOf(entry)) row.push(entry);
    else {
      finished.push(row);
      rows.set(likeness, [entry]);
    }
  }
  const alike = [...finished, ...rows.values()].filter(({ length }) => length > 1 && length <= ROW_MAX);
  return new Map(alike.flatMap(duplicatesOf));
}

/** Key shared by similar entries; null for reversed, revoked or recurring entries. */
function describeLikeness(entry: Entry, grantOf: (entry: Entry) => Grant | null): string | null {
  const { kind, pool, feature, quantity, amount, overage, reversedQuantity, memberId } = entry;
  if (kind === "consume") {
    const isReversed = reversedQuantity === quantity;
    const isFree = amount === 0 && overage === 0;
    return isFree || isReversed ? null : JSON.stringify([pool, feature, quantity, memberId]);
  }
  if (kind !== "grant") return null;
  const grant = grantOf(entry);
  if (grant === null || grant.kind === "allowance" || grant.revokedAt !== null) return null;
  return JSON.stringify([pool, grant.kind, amount]);
}

function windowOf({ kind }: Entry): number {
  return kind === "consume" ? CHARGES_WITHIN_MS : TOP_UPS_WITHIN_MS;
}

function gapBetween(before: Entry, after: Entry): number {
  return Date.parse(after.recordedAt) - Date.parse(before.recordedAt);
}

function duplicatesOf(row: readonly Entry[]): [number, Duplicate][] {
  return row.flatMap((entry, index) => {
    const before = row[index - 1];
    return before === undefined ? [] : [[entry.sequence, { before, gapMs: gapBetween(before, entry) }]];
  });
}
