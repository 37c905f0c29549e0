import type { Problem } from "../../edge/problem.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import type { ExportKind, Settled } from "../../store/cell/export-range.ts";
import { invalidField } from "../fields.ts";
import { decodeCursor, encodeCursor } from "../page.ts";
import type { Moment, Position, Resume, Source } from "./source.ts";

/** How long a file can be resumed if there is a history window. */
const CONTINUED_MS_MAX = 24 * 3_600_000;

/** Encodes the state at the start of an export, and the position after which it resumes. */
export function writeCursor({ asOf, settled, windowStart, about }: Moment, position: Position): string {
  return encodeCursor([asOf, writeSettled(settled), writeWindow(windowStart), ...position, about]);
}

export type Asked = {
  readonly kind: ExportKind;
  readonly environmentId: EnvironmentId;
  /** As requested, before the history window is applied. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
};

/** Length of the request hash: long enough to detect a cursor from another export. A forged hash gives no extra access. */
const ABOUT_LENGTH = 6;

export function aboutOf({ kind, environmentId, from, to }: Asked): string {
  return shortHash(JSON.stringify([kind, environmentId, from ?? null, to ?? null])).slice(0, ABOUT_LENGTH);
}

export function readResume<Row>(
  cursor: string | undefined,
  source: Source<Row>,
  asked: string,
): Resume | null {
  const values =
    source.kind === "events"
      ? decodeCursor(cursor, ["number", "string", "string", "number", "string", "string"])
      : decodeCursor(cursor, ["number", "string", "string", "number", "number", "string"]);
  if (values === null) return null;
  const [asOf, text, window, first, second, about] = values;
  if (about !== asked)
    throw refused("belongs to another export: resume with the same call, including `from` and `to`");
  const settled = readSettled(text);
  const after = source.readPosition([first, second]);
  const windowStart = readWindow(window);
  if (after !== null && settled !== null && windowStart !== undefined && asOf >= 0 && asOf <= TIME_MAX)
    return { asOf: brandAs<Instant>(asOf), settled, windowStart, about, after };
  throw refused("is not a cursor from this export");
}

/**
 * A resumed export keeps the history window it started with, because otherwise rows would be missing in the middle of the file. The
 * window is kept for at most a day, because a forged cursor must not reveal older rows.
 */
export function continuedWindow(then: Instant | null, now: Instant | null): Instant | null {
  if (now !== null && now - (then ?? 0) > CONTINUED_MS_MAX)
    throw refused(
      "is too old: the history window has moved by more than a day since the export started, so start a new one",
    );
  return then;
}

/** Milliseconds until this read must end. The limit of one day applies to a single long read as well as to resumed reads. */
export function msLeft(then: Instant | null, now: Instant): number {
  return CONTINUED_MS_MAX - Math.max(0, now - (then ?? 0));
}

/** Encodes the start of the window. An earlier start than 1970 becomes 1970, because no record is older. */
function writeWindow(start: Instant | null): string {
  return start === null ? "none" : String(Math.max(0, start));
}

/** Decodes the start of the window. Undefined if the text is invalid. */
function readWindow(text: string): Instant | null | undefined {
  if (text === "none") return null;
  const start = Number(text);
  return /^\d{1,15}$/.test(text) && start <= TIME_MAX ? brandAs<Instant>(start) : undefined;
}

function refused(message: string): Problem {
  return invalidField({ field: "cursor", code: "wrong_form", message });
}

/** Every row contains this text. To keep it short, open transactions are written as differences from `below`. */
function writeSettled({ below, without, latestEvent }: Settled): string {
  return [latestEvent, below, ...without.map((number) => below - number)].join("-");
}

function readSettled(text: string): Settled | null {
  if (!/^\d{1,15}(-\d{1,15}){1,1000}$/.test(text)) return null;
  const [latest = 0, below = 0, ...under] = text.split("-").map(Number);
  const latestEvent = brandAs<Instant>(Math.min(latest, TIME_MAX));
  return { below, without: under.map((distance) => below - distance), latestEvent };
}
