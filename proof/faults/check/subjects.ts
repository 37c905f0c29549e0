import { toUuid } from "./public-uuid.ts";
import type { Stored, StoredEntry } from "./stored.ts";

/** What a request left behind, and an answer is about: an event, a charge or a denial. */
export type Subject = {
  readonly kind: "event" | "charge" | "denial";
  readonly id: string;
  readonly marker: string | null;
  /** Events do not carry it. */
  readonly keyHash: string | null;
};

export type SubjectKind = Subject["kind"];

export function listSubjects({ events, ledger, denials }: Stored): Subject[] {
  return [
    ...events.map(({ id, marker }): Subject => ({ kind: "event", id, marker, keyHash: null })),
    ...ledger.filter(isOfRequest).map((entry): Subject => {
      const { marker, keyHash } = entry;
      return { kind: "charge", id: chargeId(entry), marker, keyHash };
    }),
    ...denials.map(({ id, marker, keyHash }): Subject => ({ kind: "denial", id, marker, keyHash })),
  ];
}

/** The 16 bytes behind `con_…`: 6 of the time, 5 of the customer, 5 of the sequence. */
export function chargeId(entry: Pick<StoredEntry, "recordedAtMs" | "customer" | "sequence">): string {
  const hex = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, "0");
  return toUuid(hex(entry.recordedAtMs, 6) + hex(entry.customer, 5) + hex(entry.sequence, 5));
}

/** Also an entry of another kind that carries what only a consume may carry. */
function isOfRequest({ kind, marker, keyHash }: StoredEntry): boolean {
  return kind === "consume" || marker !== null || keyHash !== null;
}
