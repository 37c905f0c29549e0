import type { Problem } from "../../edge/problem.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import type { ExportKind } from "../../store/cell/export/estimate.ts";
import type { Settled } from "../../store/cell/export/settled.ts";
import { invalidField } from "../fields.ts";
import { decodeCursor, encodeCursor } from "../page.ts";
import type { Moment, Position, Resume, Source } from "./source.ts";

/** Where a history window moves on, a file can be continued for so long. */
const CONTINUED_MS_MAX = 24 * 3_600_000;

/** What an export was about when it began, and where it goes on. */
export function writeCursor({ asOf, settled, windowStart, about }: Moment, position: Position): string {
  return encodeCursor([asOf, writeSettled(settled), writeWindow(windowStart), ...position, about]);
}

export type Asked = {
  readonly kind: ExportKind;
  readonly environmentId: EnvironmentId;
  /** As they were asked for, whatever the history window makes of them. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
};

/** Enough digits that a mistake is found: nobody gains anything by forging them. */
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
    throw refused("is of a file of something else: go on with the same call, its `from` and `to` included");
  const settled = readSettled(text);
  const after = source.readPosition([first, second]);
  const windowStart = readWindow(window);
  if (after !== null && settled !== null && windowStart !== undefined && asOf >= 0 && asOf <= TIME_MAX)
    return { asOf: brandAs<Instant>(asOf), settled, windowStart, about, after };
  throw refused("is not one that this export gave out");
}

/**
 * Where the window begins in a file that goes on: where it did when the file began, else what left it meanwhile would be missing
 * in the middle. For a day at most, as what lies before the window is nobody's to see, and a cursor is the caller's to forge.
 */
export function continuedWindow(then: Instant | null, now: Instant | null): Instant | null {
  if (now !== null && now - (then ?? 0) > CONTINUED_MS_MAX)
    throw refused(
      "is of a file that began with more than the history window has now, by over a day: export anew",
    );
  return then;
}

/** How long a file with this window may still be read: in one go it holds the window open no longer than in several. */
export function msLeft(then: Instant | null, now: Instant): number {
  return CONTINUED_MS_MAX - Math.max(0, now - (then ?? 0));
}

/** No record is of before 1970, whatever the window reaches back to. */
function writeWindow(start: Instant | null): string {
  return start === null ? "none" : String(Math.max(0, start));
}

/** Undefined: this is none. */
function readWindow(text: string): Instant | null | undefined {
  if (text === "none") return null;
  const start = Number(text);
  return /^\d{1,15}$/.test(text) && start <= TIME_MAX ? brandAs<Instant>(start) : undefined;
}

function refused(message: string): Problem {
  return invalidField({ field: "cursor", code: "wrong_form", message });
}

/** Every row has it: those that were under way are told by how far below they are. */
function writeSettled({ below, without, latestEvent }: Settled): string {
  return [latestEvent, below, ...without.map((number) => below - number)].join("-");
}

function readSettled(text: string): Settled | null {
  if (!/^\d{1,15}(-\d{1,15}){1,1000}$/.test(text)) return null;
  const [latest = 0, below = 0, ...under] = text.split("-").map(Number);
  const latestEvent = brandAs<Instant>(Math.min(latest, TIME_MAX));
  return { below, without: under.map((distance) => below - distance), latestEvent };
}
