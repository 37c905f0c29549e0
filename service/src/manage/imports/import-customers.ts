import type { GrantKind } from "../../entitlement/wallet.ts";
import { CHUNK_SIZE, withRetries } from "../bulk/chunks.ts";
import type { Caller } from "../bulk/turns.ts";
import { type Context, recordAudit, startBulk } from "../context.ts";
import { type CustomerOutcome, type ImportJob, importChunk, type OutcomeCounter } from "./import-chunk.ts";
import type { RowError } from "./import-row.ts";
import type { ImportedCustomer } from "./imported-customer.ts";
import type { ReadRows } from "./read-rows.ts";

/** Maximum number of errors returned. */
const ERRORS_SHOWN_MAX = 50;

export type ImportReport = {
  readonly outcome: "completed" | "stopped";
  readonly rows: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly planChanged: number;
  /** Number of new customers by plan key. */
  readonly started: readonly { readonly plan: string; readonly customers: number }[];
  readonly creditsAdded: number;
  readonly credits: readonly PoolCredits[];
  readonly errors: readonly RowError[];
};

/** Credits that an import added to a pool. `allowance` is the granted allowance minus the part that the file reports as used. */
export type PoolCredits = { readonly pool: string } & Readonly<Record<GrantKind, number>>;

/**
 * Imports customers with their plans and opening balances, in chunks. To resume after an interruption, import the same file again under
 * the same name. Rows that were already imported change nothing.
 */
export async function importCustomers(
  job: ImportJob,
  rows: AsyncIterable<ReadRows>,
  caller: Caller,
): Promise<ImportReport> {
  const tally = new Tally();
  const run = { job };
  try {
    await importAll(run, rows, tally, caller);
  } finally {
    if (!job.isDryRun && tally.mayHaveWritten) await auditImport(run.job, tally.report("stopped"));
  }
  return tally.report(tally.isStopped ? "stopped" : "completed");
}

async function importAll(
  run: { job: ImportJob },
  rows: AsyncIterable<ReadRows>,
  tally: Tally,
  caller: Caller,
): Promise<void> {
  const { job } = run;
  let chunk: ImportedCustomer[] = [];
  let chunkRows = 0;
  const flush = async (): Promise<void> => {
    const ready = chunk;
    chunk = [];
    chunkRows = 0;
    if (ready.length > 0) {
      await withRetries(() => caller.admitAgain());
      // Until rows are written, each chunk records a new start, because a slow upload would otherwise put the start long before the changes.
      if (!tally.mayHaveWritten) run.job = { ...job, context: await withRetries(() => start(job)) };
      await importChunk(run.job, ready, tally);
    }
    if ((job.stopsOnError && tally.hasFailed) || !caller.isWaiting()) tally.isStopped = true;
  };
  for await (const read of rows) {
    if (read.kind === "customer") {
      chunk.push(read.customer);
      chunkRows += read.customer.rows;
      if (chunkRows >= CHUNK_SIZE) await flush();
    } else {
      const isEnd = read.kind === "broken" || job.stopsOnError;
      // Rows before the error are imported first.
      if (isEnd) await flush();
      if (!tally.isStopped && read.kind === "broken") tally.refuse(1, [read.error]);
      if (!tally.isStopped && read.kind === "bad_rows") tally.refuse(read.rows, read.errors);
      if (isEnd) tally.isStopped = true;
    }
    if (tally.isStopped) return;
  }
  await flush();
}

function start({ cell, context }: ImportJob): Promise<Context> {
  return startBulk(cell, context, "customers.imported");
}

/** Counts the customers and rows by outcome. */
class Tally implements OutcomeCounter {
  isStopped = false;
  #rows = 0;
  #created = 0;
  #changed = 0;
  #unchanged = 0;
  #failed = 0;
  #planChanged = 0;
  readonly #started = new Map<string, number>();
  #creditsAdded = 0;
  readonly #credits = new Map<string, Record<GrantKind, number>>();
  readonly #errors: RowError[] = [];
  /** Outcomes that may have been committed, by the number of the customer's first row. */
  readonly #unknown = new Map<number, CustomerOutcome>();

  get hasFailed(): boolean {
    return this.#failed > 0;
  }

  get mayHaveWritten(): boolean {
    return this.#created + this.#changed + this.#unknown.size > 0;
  }

  noteUnknown(outcomes: readonly CustomerOutcome[]): void {
    for (const outcome of outcomes) if (outcome.kind !== "unchanged") this.#unknown.set(outcome.row, outcome);
  }

  count(outcomes: readonly CustomerOutcome[]): void {
    for (const found of outcomes) {
      // If the response to a commit was lost, the retry finds the committed customers unchanged.
      const lost = found.kind === "unchanged" ? this.#unknown.get(found.row) : undefined;
      const outcome = lost ?? found;
      if (outcome.kind === "failed") {
        this.refuse(outcome.rows, [outcome.error]);
        continue;
      }
      this.#rows += outcome.rows;
      if (outcome.kind === "created") this.#created += 1;
      else if (outcome.kind === "changed") this.#changed += 1;
      else this.#unchanged += 1;
      if (outcome.isPlanChanged) this.#planChanged += 1;
      if (outcome.kind === "created" && outcome.plan !== null)
        this.#started.set(outcome.plan, (this.#started.get(outcome.plan) ?? 0) + 1);
      this.#creditsAdded += outcome.rowsAdded;
      for (const { pool, kind, credits } of outcome.given) this.#creditsOf(pool)[kind] += credits;
    }
  }

  /** Counts a customer's failed rows and collects their errors. */
  refuse(rows: number, errors: readonly RowError[]): void {
    this.#rows += rows;
    this.#failed += rows;
    this.#errors.push(...errors.slice(0, ERRORS_SHOWN_MAX - this.#errors.length));
  }

  report(outcome: ImportReport["outcome"]): ImportReport {
    return {
      outcome,
      rows: this.#rows,
      created: this.#created,
      changed: this.#changed,
      unchanged: this.#unchanged,
      failed: this.#failed,
      planChanged: this.#planChanged,
      started: [...this.#started].map(([plan, customers]) => ({ plan, customers })),
      creditsAdded: this.#creditsAdded,
      credits: [...this.#credits]
        .map(([pool, credits]) => ({ pool, ...credits }))
        .sort((a, b) => (a.pool < b.pool ? -1 : 1)),
      // Sorts by row, because parse errors are collected before other failures in the same chunk.
      errors: this.#errors.toSorted((a, b) => a.row - b.row),
    };
  }

  #creditsOf(pool: string): Record<GrantKind, number> {
    const known = this.#credits.get(pool) ?? { allowance: 0, purchase: 0, manual: 0, promotion: 0 };
    this.#credits.set(pool, known);
    return known;
  }
}

/** Records one audit entry for the whole import. Each change to a customer has a separate entry. */
function auditImport({ cell, context, name }: ImportJob, report: ImportReport): Promise<string> {
  const { errors: _, outcome: __, ...counts } = report;
  return recordAudit(cell, context, { action: "customers.imported", subject: name, after: counts });
}
