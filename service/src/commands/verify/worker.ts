import { constants, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { Checked, Report } from "./report.ts";
import { verifyDatabase } from "./verify-database.ts";

export type Message =
  | { readonly kind: "progress"; readonly checked: Checked }
  | { readonly kind: "done"; readonly report: Report };

const PROGRESS_MS = 10_000;

const post = (message: Message): void => parentPort?.postMessage(message);
let reportedAtMs = performance.now();

function reportProgress(checked: Checked): void {
  if (performance.now() - reportedAtMs < PROGRESS_MS) return;
  reportedAtMs = performance.now();
  post({ kind: "progress", checked });
}

// Runs at low priority in a thread with a small heap (see commands/verify.ts).
try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // If a system call filter forbids this, verification runs at normal priority.
}
post({ kind: "done", report: await verifyDatabase(workerData, reportProgress) });
