import type { Settled } from "../../store/cell/export/settled.ts";
import { brandAs, type Instant } from "../../words/brand.ts";
import { TIME_MAX } from "../../words/timestamp.ts";
import { invalidField } from "../fields.ts";
import { decodeCursor, encodeCursor } from "../page.ts";
import type { ExportRequest } from "./export-file.ts";
import type { Moment, Position, Source } from "./source.ts";

/** What an export was about when it began, and where it goes on. */
export function writeCursor({ asOf, settled }: Moment, position: Position): string {
  return encodeCursor([asOf, writeSettled(settled), ...position]);
}

export function readResume<Row>(cursor: string | undefined, source: Source<Row>): ExportRequest["resume"] {
  const values =
    source.kind === "events"
      ? decodeCursor(cursor, ["number", "string", "number", "string"])
      : decodeCursor(cursor, ["number", "string", "number", "number"]);
  if (values === null) return null;
  const [asOf, text, first, second] = values;
  const settled = readSettled(text);
  const after = source.readPosition([first, second]);
  if (after !== null && settled !== null && asOf >= 0 && asOf <= TIME_MAX)
    return { asOf: brandAs<Instant>(asOf), settled, after };
  const message = "is not one that this export gave out";
  throw invalidField({ field: "cursor", code: "wrong_form", message });
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
