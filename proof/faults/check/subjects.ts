import { createHash } from "node:crypto";
import type { Stored, StoredEntry, StoredHoldChange } from "./stored.ts";

/** A row that a request created and that its response refers to: for several charges, the first. */
export type Subject = {
  readonly kind: "event" | "charge" | "denial" | "hold" | "reversal";
  readonly id: string;
  /** The ID that the request's key points to: the ID of the row, or of the reversed charge. */
  readonly target: string;
  readonly marker: string | null;
  /** Null for events and for the reversal of a whole charge, which do not store it. */
  readonly keyHash: string | null;
};

export type SubjectKind = Subject["kind"];

export function listSubjects({ events, ledger, denials, holdChanges }: Stored): Subject[] {
  return [
    ...events.map(({ id, marker }): Subject => ({ kind: "event", id, target: id, marker, keyHash: null })),
    ...ledger.filter(isOfRequest).map((entry): Subject => {
      const { marker, keyHash } = entry;
      const id = chargeId(entry);
      return { kind: "charge", id, target: id, marker, keyHash };
    }),
    ...denials.map(
      ({ id, marker, keyHash }): Subject => ({ kind: "denial", id, target: id, marker, keyHash }),
    ),
    ...holdChanges
      .filter(({ kind, keyHash }) => kind === "opened" || keyHash !== null)
      .map((row): Subject => {
        const { marker, keyHash } = row;
        const id = holdUuid(row);
        return { kind: "hold", id, target: id, marker, keyHash };
      }),
    ...listReversals(ledger),
  ];
}

/** The reversal of a request with several charges has an entry for each of them, at the same time. */
function listReversals(ledger: readonly StoredEntry[]): Subject[] {
  const nameOf = (customer: number, sequence: number | null): string => `${customer} ${sequence}`;
  const charges = ledger.filter(({ kind }) => kind === "consume");
  const chargeOf = new Map(charges.map((entry) => [nameOf(entry.customer, entry.sequence), entry]));
  const seen = new Map<string, number>();
  const reversals = ledger.filter(isOfClient).map((entry) => {
    const { customer, recordedAtMs, marker, keyHash, reverses } = entry;
    const charge = chargeOf.get(nameOf(customer, reverses));
    const target = charge === undefined ? "" : requestIdOf(charge);
    // A second entry for the same charge is another reversal.
    const name = `${customer} ${recordedAtMs} ${marker} ${keyHash} ${target}`;
    const times = seen.get(`${name} ${reverses}`) ?? 0;
    seen.set(`${name} ${reverses}`, times + 1);
    const subject: Subject = { kind: "reversal", id: chargeId(entry), target, marker, keyHash };
    return { name: `${name} ${times}`, subject };
  });
  const first = new Map(reversals.toReversed().map(({ name, subject }) => [name, subject]));
  return [...first.values()].reverse();
}

/** Whether a client made this reversal. The operator's reversals have no marker and no key. */
export function isOfClient({ kind, marker, keyHash }: StoredEntry): boolean {
  return kind === "reverse" && (marker !== null || keyHash !== null);
}

/** The ID of the first charge of the same request. */
export function requestIdOf(charge: StoredEntry): string {
  return chargeId({ ...charge, sequence: charge.sequence - (charge.item ?? 0) });
}

/** Includes invalid entries: other kinds with a field that only a charge may have. Charges of a hold belong to the hold. */
function isOfRequest({ kind, item, hold, marker, keyHash }: StoredEntry): boolean {
  if (kind === "consume" && hold !== null) return keyHash !== null;
  if (kind === "reverse") return false;
  return kind === "consume" ? (item ?? 0) === 0 : marker !== null || keyHash !== null;
}

// The functions below derive IDs and hashes without the service's code, to check it.

const PUBLIC_ID = /^([a-z]+)_([0-9a-hjkmnp-tv-z]{26})$/;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Decodes `evt_…`, `con_…` or `hld_…` to a UUID. Null if it is not such an ID. */
export function findUuid(prefix: "evt" | "con" | "hld", id: string | null): string | null {
  const [, found, digits] = PUBLIC_ID.exec(id ?? "") ?? [];
  if (found !== prefix || digits === undefined) return null;
  let value = 0n;
  for (const digit of digits) value = value * 32n + BigInt(ALPHABET.indexOf(digit));
  const hex = value.toString(16).padStart(32, "0");
  return hex.length > 32 ? null : toUuid(hex);
}

/** The 16 bytes of a `con_…` ID: 6 for the time, 5 for the customer, 5 for the sequence. */
export function chargeId(entry: Pick<StoredEntry, "recordedAtMs" | "customer" | "sequence">): string {
  const hex = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, "0");
  return toUuid(hex(entry.recordedAtMs, 6) + hex(entry.customer, 5) + hex(entry.sequence, 5));
}

/** The 16 bytes of a `hld_…` ID, encoded like a charge's ID. */
export function holdUuid(row: Pick<StoredHoldChange, "customer" | "hold" | "openedAtMs">): string {
  return chargeId({ recordedAtMs: row.openedAtMs, customer: row.customer, sequence: row.hold });
}

/** SHA-256 of the key. If the key is a UUIDv7 or a ULID, its time comes first. */
export function keyHashOf(key: string): string {
  return toUuid(`${timeOf(key)}${createHash("sha256").update(key).digest("hex")}`.slice(0, 32));
}

function timeOf(key: string): string {
  const uuid = /^(\w{8})-(\w{4})-7\w{3}-[89abAB]\w{3}-\w{12}$/.exec(key);
  if (uuid !== null && /^[0-9a-f-]+$/i.test(key)) return `${uuid[1]}${uuid[2]}`.toLowerCase();
  if (!/^[0-7][0-9A-TV-Z]{25}$/i.test(key) || /[ilou]/i.test(key)) return "";
  const bits = [...key.slice(0, 10).toLowerCase()].map((digit) =>
    ALPHABET.indexOf(digit).toString(2).padStart(5, "0"),
  );
  return BigInt(`0b${bits.join("")}`)
    .toString(16)
    .padStart(12, "0");
}

function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
