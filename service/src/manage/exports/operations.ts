import { addAbortSignal } from "node:stream";
import { Type } from "typebox";
import { endAfter, endStalled, STALLED } from "../../edge/end-early.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import { Turns, WAITING_FOR_CALLERS } from "../bulk/turns.ts";
import { readTime, timeField } from "../fields.ts";
import { describeWindow, historyStartOf, notBefore } from "../history-window.ts";
import {
  admitAgain,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  fileOperation,
  type Operation,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type Column, describeColumns } from "./column.ts";
import { chargeSource, ledgerSource } from "./entry-sources.ts";
import { eventSource } from "./event-source.ts";
import { type Ends, type ExportRequest, exportFile } from "./export-file.ts";
import { FORMATS, mediaType } from "./format.ts";
import { grantSource } from "./grant-source.ts";
import { aboutOf, continuedWindow, msLeft, readResume } from "./resume.ts";
import type { Source } from "./source.ts";

const ABOUT_FILES =
  "The file has the rows there were when it began, as far back as the workspace's history window reaches, and is sent while it is made. " +
  "Headers: `Purser-Rows-Estimate` says about how many rows the whole file has, as the database " +
  "guesses, `Purser-Export-As-Of` the moment before which everything that was " +
  "answered is in it, `Purser-Window-Start` where the window begins, or `none`. Each row ends with a `cursor`: after an interruption drop the last row if it is " +
  "not whole, and send the same call with the `cursor` of the last one you have; what comes is exactly the rest, without a header " +
  "line, to be appended. Where there is a history window a file can be continued for a day; later it has to begin anew. A file is complete when its transfer ended without an error; continued after its last row it has no more. " +
  "In CSV a text that begins with `=`, `+`, `-`, `@`, a tab or a line's end has an apostrophe before it, and so has one of these behind a " +
  "semicolon, a tab or a line's end within a text, as a spreadsheet would run it; NDJSON has every text as it is. Every export is in the audit log. An environment has two at a time.";

/** Everything of a kind in one file. */
export function exportOperations(parts: ManageParts): Operation[] {
  const turns = new Turns(WAITING_FOR_CALLERS);
  return [
    exportOperation(parts, turns, { id: "exportEvents", noun: "usage events", source: eventSource }),
    exportOperation(parts, turns, { id: "exportCharges", noun: "charges", source: chargeSource }),
    exportOperation(parts, turns, { id: "exportLedger", noun: "the ledger", source: ledgerSource }),
    exportOperation(parts, turns, { id: "exportGrants", noun: "grants", source: grantSource }),
  ];
}

function exportOperation<Row>(
  { control, cellOf, stopping }: ManageParts,
  turns: Turns,
  { id, noun, source }: { id: string; noun: string; source: Source<Row> },
): Operation {
  return fileOperation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/exports/${source.kind}`,
    access: { role: "viewer", in: "environment" },
    id,
    noun: "Exports",
    summary: `Export ${noun}`,
    description: `${source.about} Columns:\n\n${describeColumns(source.columns)}\n\n${ABOUT_FILES}`,
    params: Type.Object(environmentParams),
    query: Type.Object(
      {
        format: Type.Optional(Type.Enum([...FORMATS], { description: "By default `csv`." })),
        from: Type.Optional(ownTime("The first moment")),
        to: Type.Optional(ownTime("The moment after the last")),
        cursor: Type.Optional(
          Type.String({ maxLength: 12_000, description: "`cursor` of the last whole row you have." }),
        ),
      },
      { additionalProperties: false },
    ),
    files: describeFiles(source.columns),
    codes: ["overloaded"],
    handle: async (call) => {
      const { cell, environment, environmentId } = scopeOf(call);
      const { format = "csv", cursor } = call.query;
      const [from, to] = [readTime("from", call.query.from), readTime("to", call.query.to)];
      const about = aboutOf({ kind: source.kind, environmentId, from, to });
      const resume = readResume(cursor, source, about);
      const windowNow = await historyStartOf(control, call);
      const windowStart = resume === null ? windowNow : continuedWindow(resume.windowStart, windowNow);
      const { reply } = call;
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      if (reply.raw.destroyed) gone.abort();
      const request: ExportRequest & Ends = {
        ended: AbortSignal.any([gone.signal, stopping]),
        admitAgain: () => admitAgain(call),
        format,
        from: notBefore(windowStart, from ?? brandAs<Instant>(0)),
        to: to ?? brandAs<Instant>(TIME_MAX),
        windowStart,
        about,
        resume,
      };
      const end = turns.begin(scopeOf(call).environmentId);
      try {
        const file = await exportFile(cellOf(cell), contextOf(call), source, request);
        addAbortSignal(stopping, file.content).once("close", end);
        endStalled(reply.raw, STALLED);
        if (windowNow !== null) endAfter(reply.raw, msLeft(windowStart, windowNow));
        const day = formatTimestamp(file.asOf).slice(0, 10);
        reply.headers({
          "content-type": mediaType(format, resume === null),
          "content-disposition": `attachment; filename="${source.kind}-${environment}-${day}.${format}"`,
          "cache-control": "no-store",
          "purser-rows-estimate": String(file.rowsEstimate),
          "purser-export-as-of": formatTimestamp(file.asOf),
          "purser-window-start": describeWindow(windowStart).windowStart ?? "none",
        });
        return file.content;
      } catch (error) {
        end();
        throw error;
      }
    },
  });
}

function ownTime(which: string) {
  return Type.String({
    ...timeField,
    description: `${which}, by \`occurredAt\` of an event, by when all else took effect.`,
  });
}

function describeFiles<Row>(columns: readonly Column<Row>[]) {
  const names = [...columns.map(({ name }) => name), "cursor"];
  return {
    "text/csv": Type.String({
      description: "With a header line, unless it is continued.",
      examples: [`${names.join(",")}\n`],
    }),
    "application/x-ndjson": Type.String({ description: "An object on each line.", examples: ["{}\n"] }),
  };
}
