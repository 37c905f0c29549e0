import { brandAs, type Instant } from "../../words/brand.ts";
import { TIME_MAX } from "../../words/timestamp.ts";
import { invalidField } from "../fields.ts";
import { decodeCursor } from "../page.ts";
import type { ExportRequest } from "./export-file.ts";
import type { Source } from "./source.ts";

/** What an export was about when it began, and where it goes on. */
export function readResume<Row>(cursor: string | undefined, source: Source<Row>): ExportRequest["resume"] {
  const values =
    source.kind === "events"
      ? decodeCursor(cursor, ["number", "number", "string"])
      : decodeCursor(cursor, ["number", "number", "number"]);
  if (values === null) return null;
  const [asOf, first, second] = values;
  const after = source.readPosition([first, second]);
  if (after !== null && asOf >= 0 && asOf <= TIME_MAX) return { asOf: brandAs<Instant>(asOf), after };
  const message = "is not one that this export gave out";
  throw invalidField({ field: "cursor", code: "wrong_form", message });
}
