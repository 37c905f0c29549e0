import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { type Checked, describeChecked, describeMismatch, type Report } from "./verify/report.ts";
import type { Message } from "./verify/worker.ts";

/** Of each half of the space for what was just made. */
const YOUNG_MEGABYTES = 8;

/**
 * Folds every ledger and holds wallets, grants and limits against it, while the service runs; stops at the first that
 * differs. Returns whether none did.
 */
export async function verifyCommand(options: {
  databaseUrl: string;
  print: (line: string) => void;
}): Promise<boolean> {
  const { databaseUrl, print } = options;
  const startMs = performance.now();
  const { checked, mismatch, statementMsMax } = await verifyInThread(databaseUrl, (soFar) =>
    print(`So far ${describeChecked(soFar)}`),
  );
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  print(`Checked ${describeChecked(checked)}.`);
  print(`It took ${seconds} s, the longest statement ${Math.ceil(statementMsMax)} ms.`);
  print(mismatch === null ? "Every wallet is the fold of its ledger." : describeMismatch(mismatch));
  return mismatch === null;
}

/**
 * What was folded is garbage at once, and a process that is left to itself grows to 370 MB of it. A thread has a heap of
 * its own, and takes its size from the flags as they are when it starts.
 */
function verifyInThread(databaseUrl: string, onProgress: (checked: Checked) => void): Promise<Report> {
  setFlagsFromString(`--max-semi-space-size=${YOUNG_MEGABYTES}`);
  const worker = new Worker(new URL("./verify/worker.ts", import.meta.url), { workerData: databaseUrl });
  return new Promise((resolve, reject) => {
    worker.on("message", (message: Message) => {
      if (message.kind === "progress") onProgress(message.checked);
      else resolve(message.report);
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the verification ended without a report")));
  });
}
