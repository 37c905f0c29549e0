import { useSyncExternalStore } from "react";
import { ApiProblem } from "../../api/api-problem.ts";
import { type ExportOrder, interrupted, openExport, pathOfExport } from "../../api/export-stream.ts";
import { onClearUserData } from "../../api/query-client.ts";
import { saveFile } from "../../ui/save-file.ts";
import { RowSplitter } from "./row-splitter.ts";

/** A running or finished export. An export survives navigation but not closing the tab. */
export type ExportJob = {
  readonly id: number;
  readonly order: ExportOrder;
  readonly fileName: string;
  readonly state: "running" | "cancelled" | "failed" | "done";
  readonly rows: number;
  readonly bytes: number;
  /** 0 until the estimate is known. */
  readonly rowsEstimate: number;
  readonly asOf: string | null;
  readonly windowStart: string | null;
  readonly error: unknown;
};

type Works = {
  readonly whole: RowSplitter;
  /** Received data. The browser can keep blobs on disk. */
  readonly parts: Blob[];
  readonly controller: AbortController;
};

let jobs: readonly ExportJob[] = [];
let lastId = 0;
const works = new Map<number, Works>();
const listeners = new Set<() => void>();

onClearUserData(() => {
  for (const { id } of jobs) forgetExport(id);
});

export function useExportJobs(): readonly ExportJob[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => jobs,
  );
}

/** Does nothing if the same export is already running, for example after a double click. */
export function startExport(order: ExportOrder, fileName: string): void {
  const path = pathOfExport(order);
  if (jobs.some((job) => job.state === "running" && pathOfExport(job.order) === path)) return;
  lastId += 1;
  const id = lastId;
  works.set(id, { whole: new RowSplitter(order.format), parts: [], controller: new AbortController() });
  const facts = { rows: 0, bytes: 0, rowsEstimate: 0, asOf: null, windowStart: null, error: null };
  jobs = [{ id, order, fileName, state: "running", ...facts }, ...jobs];
  notifyAll();
  void run(id);
}

export function cancelExport(id: number): void {
  works.get(id)?.controller.abort();
}

/** Resumes after the last complete row, from the same snapshot. */
export function resumeExport(id: number): void {
  const work = works.get(id);
  const job = jobs.find((known) => known.id === id);
  if (work === undefined || job === undefined) return;
  const controller = new AbortController();
  if (work.whole.cursor !== undefined) {
    works.set(id, { ...work, controller });
    change(id, { state: "running", error: null });
  } else {
    // No complete row yet: start again with the header.
    works.set(id, { whole: new RowSplitter(job.order.format), parts: [], controller });
    change(id, { state: "running", error: null, rows: 0, bytes: 0 });
  }
  void run(id);
}

export function saveExport({ id, order, fileName }: ExportJob): void {
  const type = order.format === "csv" ? "text/csv" : "application/x-ndjson";
  saveFile(fileName, new Blob(works.get(id)?.parts ?? [], { type }));
}

/** Cancels the export and frees its data. */
export function forgetExport(id: number): void {
  cancelExport(id);
  works.delete(id);
  jobs = jobs.filter((job) => job.id !== id);
  notifyAll();
}

async function run(id: number): Promise<void> {
  const job = jobs.find((known) => known.id === id);
  const work = works.get(id);
  if (job === undefined || work === undefined) return;
  const { signal } = work.controller;
  try {
    await receive(job, work);
    change(id, { state: "done" });
    const done = jobs.find((known) => known.id === id);
    if (done !== undefined) saveExport(done);
  } catch (error) {
    work.whole.dropRest();
    if (signal.aborted) change(id, { state: "cancelled" });
    else change(id, { state: "failed", error: error instanceof ApiProblem ? error : interrupted(error) });
  }
}

async function receive({ id, order, bytes: before, rowsEstimate }: ExportJob, work: Works): Promise<void> {
  const { whole, parts, controller } = work;
  const stream = await openExport(pathOfExport(order, whole.cursor), controller.signal);
  const { asOf, windowStart } = stream;
  // A resumed export estimates only the remaining rows, so keep the first estimate.
  change(id, { asOf, windowStart, rowsEstimate: rowsEstimate || stream.rowsEstimate });
  let bytes = before;
  const reader = stream.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const rows = whole.take(value);
    if (rows.length > 0) parts.push(new Blob([rows]));
    bytes += rows.length;
    change(id, { rows: whole.rows, bytes });
  }
}

function change(id: number, changed: Partial<ExportJob>): void {
  jobs = jobs.map((job) => (job.id === id ? { ...job, ...changed } : job));
  notifyAll();
}

function notifyAll(): void {
  for (const listener of listeners) listener();
}
