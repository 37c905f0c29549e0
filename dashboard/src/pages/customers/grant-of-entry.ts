import type { Entry, Grant } from "./ledger-queries.ts";

/**
 * The grant that an entry is about, if it is among the known ones. An entry names the slot of the wallet that it moved, which
 * several grants of one kind and expiry share under the first one's number; the grant that was given with it has its very time.
 */
export function grantOfEntry(entry: Entry, known: readonly Grant[]): Grant | null {
  const [part] = entry.parts;
  if (part === undefined) return null;
  const given =
    entry.kind === "grant" &&
    known.find(
      ({ recordedAt, pool, credits, grant }) =>
        recordedAt === entry.recordedAt &&
        pool === entry.pool &&
        credits === entry.amount &&
        grant >= part.grant,
    );
  return given || findGrant(known, part.grant);
}

export function findGrant(known: readonly Grant[], number: number): Grant | null {
  return known.find(({ grant }) => grant === number) ?? null;
}
