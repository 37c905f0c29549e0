import { addAbortSignal } from "node:stream";
import { Type } from "typebox";
import { endAfter, endStalled, STALLED } from "../../edge/end-early.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import { Turns, WAITING_FOR_CALLERS } from "../bulk/turns.ts";
import { readTime, strictObject, timeField } from "../fields.ts";
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
import { chargeSource, ledgerSource } from "./entry-sources.ts";
import { eventSource } from "./event-source.ts";
import { type Ends, type ExportRequest, exportFile } from "./export-file.ts";
import { FORMATS, mediaType } from "./format.ts";
import { grantSource } from "./grant-source.ts";
import { aboutOf, continuedWindow, msLeft, readResume } from "./resume.ts";
import { type Column, describeColumns, type Source } from "./source.ts";

const ABOUT_FILES =
  "The file is streamed. It contains the rows that existed when the export started, back to the start of the workspace's history window. " +
  "Every export is recorded in the audit log. Each process runs at most two exports for an environment, and six in total.\n\n" +
  "Response headers:\n\n" +
  "- `Purser-Rows-Estimate`: the estimated number of rows in the whole file.\n" +
  "- `Purser-Export-As-Of`: the file includes every request that returned before this time.\n" +
  "- `Purser-Window-Start`: the start of the history window, or `none`.\n\n" +
  "Each row ends with a `cursor`. To resume after an interruption, remove an incomplete last row and send the same call with the last " +
  "`cursor`. Append the response, which has no header line. If the workspace has a history window, you can resume an export for one day. " +
  "A file is complete when the transfer ends without an error. Resuming after the last row returns no rows.\n\n" +
  "In CSV, an apostrophe is added before text that starts with `=`, `+`, `-`, `@`, a tab or a line break. Without the apostrophe, a " +
  "spreadsheet would run the text as a formula. An apostrophe is also added before these characters when they follow a semicolon, tab " +
  "or line break. NDJSON has the original text.";

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
    query: strictObject({
      format: Type.Optional(Type.Enum([...FORMATS], { description: "Default: `csv`." })),
      from: Type.Optional(ownTime("Start (inclusive)")),
      to: Type.Optional(ownTime("End (exclusive)")),
      cursor: Type.Optional(
        Type.String({ maxLength: 12_000, description: "The `cursor` of the last complete row." }),
      ),
    }),
    files: describeFiles(source.columns),
    codes: ["overloaded"],
    handle: async (call) => {
      const { environment, environmentId } = scopeOf(call);
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
        const file = await exportFile(cellOf(scopeOf(call)), contextOf(call), source, request);
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
    description: `${which}. For events, compared with \`occurredAt\`. For other rows, compared with the time at which the row took effect.`,
  });
}

function describeFiles<Row>(columns: readonly Column<Row>[]) {
  const names = [...columns.map(({ name }) => name), "cursor"];
  return {
    "text/csv": Type.String({
      description: "The first line is a header, unless the export is resumed.",
      examples: [`${names.join(",")}\n`],
    }),
    "application/x-ndjson": Type.String({ description: "One object per line.", examples: ["{}\n"] }),
  };
}
