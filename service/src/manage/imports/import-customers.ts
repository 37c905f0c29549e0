import { CHUNK_SIZE, rerunTroubled } from "../bulk/chunks.ts";
import type { Caller } from "../bulk/turns.ts";
import { recordAudit } from "../context.ts";
import { type ImportJob, importChunk, type RowOutcome } from "./import-chunk.ts";
import type { ImportRow, RowError } from "./import-row.ts";
import type { ReadRow } from "./read-rows.ts";

/** Maximum number of errors returned: enough to fix a file. */
const ERRORS_SHOWN_MAX = 50;

export type ImportReport = {
  readonly outcome: "completed" | "stopped";
  readonly rows: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly planChanged: number;
  readonly creditsAdded: number;
  readonly errors: readonly RowError[];
};

/**
 * Imports customers with their plans and opening balances, one chunk at a time. After an interruption, send the same file again:
 * finished rows are unchanged.
 */
export async function importCustomers(
  job: ImportJob,
  rows: AsyncIterable<ReadRow>,
  caller: Caller,
): Promise<ImportReport> {
  const tally = new Tally();
  try {
    await importAll(job, rows, tally, caller);
  } finally {
    if (!job.isDryRun && tally.hasWritten)
      await rerunTroubled(() => auditImport(job, tally.report("stopped")));
  }
  return tally.report(tally.isStopped ? "stopped" : "completed");
}

async function importAll(
  job: ImportJob,
  rows: AsyncIterable<ReadRow>,
  tally: Tally,
  caller: Caller,
): Promise<void> {
  let chunk: ImportRow[] = [];
  const flush = async (): Promise<void> => {
    const ready = chunk;
    chunk = [];
    if (ready.length > 0) {
      await rerunTroubled(() => caller.admitAgain());
      tally.count(await importChunk(job, ready));
    }
    if ((job.stopsOnError && tally.hasFailed) || !caller.isWaiting()) tally.isStopped = true;
  };
  for await (const read of rows) {
    if (read.kind === "row") {
      chunk.push(read.row);
      if (chunk.length === CHUNK_SIZE) await flush();
    } else {
      const isEnd = read.kind === "broken" || job.stopsOnError;
      // Rows before the error are imported first.
      if (isEnd) await flush();
      if (!tally.isStopped) tally.refuse(read.kind === "broken" ? [read.error] : read.errors);
      if (isEnd) tally.isStopped = true;
    }
    if (tally.isStopped) return;
  }
  await flush();
}

/** Counts the outcomes of rows. */
class Tally {
  isStopped = false;
  #created = 0;
  #changed = 0;
  #unchanged = 0;
  #failed = 0;
  #planChanged = 0;
  #creditsAdded = 0;
  readonly #errors: RowError[] = [];

  get hasFailed(): boolean {
    return this.#failed > 0;
  }

  get hasWritten(): boolean {
    return this.#created + this.#changed > 0;
  }

  count(outcomes: readonly RowOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind === "failed") {
        this.refuse([outcome.error]);
        continue;
      }
      if (outcome.kind === "created") this.#created += 1;
      else if (outcome.kind === "changed") this.#changed += 1;
      else this.#unchanged += 1;
      if (outcome.isPlanChanged) this.#planChanged += 1;
      if (outcome.areCreditsAdded) this.#creditsAdded += 1;
    }
  }

  /** Counts one failed row with all its errors. */
  refuse(errors: readonly RowError[]): void {
    this.#failed += 1;
    this.#errors.push(...errors.slice(0, ERRORS_SHOWN_MAX - this.#errors.length));
  }

  report(outcome: ImportReport["outcome"]): ImportReport {
    return {
      outcome,
      rows: this.#created + this.#changed + this.#unchanged + this.#failed,
      created: this.#created,
      changed: this.#changed,
      unchanged: this.#unchanged,
      failed: this.#failed,
      planChanged: this.#planChanged,
      creditsAdded: this.#creditsAdded,
      // Parse errors are collected before the failures of their chunk.
      errors: this.#errors.toSorted((a, b) => a.row - b.row),
    };
  }
}

/** Records one audit entry for the whole import. The changes to each customer have their own entries. */
function auditImport({ cell, context, name }: ImportJob, report: ImportReport): Promise<void> {
  const { errors: _, outcome: __, ...counts } = report;
  return recordAudit(cell, context, { action: "customers.imported", subject: name, after: counts });
}
