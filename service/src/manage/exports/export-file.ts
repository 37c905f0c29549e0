import { Readable } from "node:stream";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { readSettledClock } from "../../store/cell/clock.ts";
import { estimateRows, readSettled } from "../../store/cell/export-range.ts";
import { refuseOtherServer } from "../../store/cell/usage/progress.ts";
import { type Context, recordAudit } from "../context.ts";
import { type Format, formatHeader, formatLines, type Line } from "./format.ts";
import { writeCursor } from "./resume.ts";
import type { ExportJob, Moment, Positioned, Resume, Source } from "./source.ts";

export type ExportRequest = {
  readonly format: Format;
  readonly from: Instant;
  readonly to: Instant;
  readonly windowStart: Instant | null;
  readonly about: string;
  readonly resume: Resume | null;
};

export type ExportedFile = {
  readonly asOf: Instant;
  readonly rowsEstimate: number;
  readonly content: Readable;
};

export type Ends = {
  /** Aborted when the reader disconnects or the process stops. The stream itself detects neither while it skips empty pages. */
  readonly ended: AbortSignal;
  /** Throws if the reader has lost access. */
  readonly admitAgain: () => Promise<void>;
};

/**
 * Streams a file. Each page is read after the previous page was sent, so a slow reader slows the export and a disconnect ends it.
 * No transaction lasts longer than a page.
 *
 * The rows of a file and their order are fixed when the export starts. A reader can resume after the last row received, on any
 * process, without gaps or duplicates, even if new rows have been written.
 */
export async function exportFile<Row>(
  cell: Pool,
  context: Context,
  source: Source<Row>,
  request: ExportRequest & Ends,
): Promise<ExportedFile> {
  const { format, from, to, windowStart, about, resume, ended, admitAgain } = request;
  const { projectId, environmentId } = context;
  const now = await single(cell, readMoment);
  const { asOf, settled } = resume === null ? now : earlierOf(resume, now);
  const job: ExportJob = { cell, projectId, environmentId, from, to, asOf, settled, windowStart, about };
  const rowsEstimate = await single(cell, (tx) => estimateRows(tx, source.kind, job));
  await audit(job, context, source, request);
  const content = Readable.from(write(source, job, { format, resume, ended, admitAgain }));
  return { asOf, rowsEstimate, content };
}

type Settlement = Pick<Moment, "asOf" | "settled">;

function* linesOf<Row>(page: readonly Positioned<Row>[], job: ExportJob): Generator<Line<Row>> {
  for (const { row, position } of page) yield { row, cursor: writeCursor(job, position) };
}

async function readMoment(tx: Tx): Promise<Settlement> {
  await refuseOtherServer(tx);
  // Reads the clock first, so that requests that returned before this time are settled when `readSettled` runs.
  const asOf = await readSettledClock(tx);
  return { asOf, settled: await readSettled(tx) };
}

/** Returns the earlier of both values, so that a forged cursor cannot reveal rows of transactions that are still open. */
function earlierOf(then: Settlement, now: Settlement): Settlement {
  return {
    asOf: brandAs<Instant>(Math.min(then.asOf, now.asOf)),
    settled: then.settled.below <= now.settled.below ? then.settled : now.settled,
  };
}

async function* write<Row>(
  source: Source<Row>,
  job: ExportJob,
  { format, resume, ended, admitAgain }: Pick<ExportRequest, "format" | "resume"> & Ends,
): AsyncGenerator<Buffer> {
  const header = resume === null ? formatHeader(format, source.columns) : "";
  if (header !== "") yield Buffer.from(header);
  for await (const page of source.pages(job, resume?.after ?? null)) {
    ended.throwIfAborted();
    await admitAgain();
    yield* formatLines(format, source.columns, linesOf(page, job));
  }
}

/** Records the export before its first byte is sent. */
function audit<Row>(
  { cell, from, to, asOf }: ExportJob,
  context: Context,
  { kind }: Source<Row>,
  { format, resume }: ExportRequest,
): Promise<string> {
  const after = {
    format,
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    asOf: formatTimestamp(asOf),
    isContinued: resume !== null,
  };
  return recordAudit(cell, context, { action: `${kind}.exported`, subject: kind, after });
}
