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

// A thread with a small heap (see commands/verify.ts), at low priority.
try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // A system call filter may forbid this. The verification matters more than its priority.
}
post({ kind: "done", report: await verifyDatabase(workerData, reportProgress) });
