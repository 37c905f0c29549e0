import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { type Checked, describeChecked, describeMismatch, type Report } from "./verify/report.ts";
import type { Message } from "./verify/worker.ts";

/** Size of each semi-space of V8's young generation. */
const YOUNG_MEGABYTES = 8;

/** Compares wallets, grants and limits with their ledgers while the service runs. Stops at the first mismatch. */
export async function verifyCommand(options: {
  databaseUrl: string;
  print: (line: string) => void;
}): Promise<boolean> {
  const { databaseUrl, print } = options;
  const startMs = performance.now();
  const { checked, mismatch, statementMsMax } = await verifyInThread(databaseUrl, (soFar) =>
    print(`So far: ${describeChecked(soFar)}`),
  );
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  print(`Checked ${describeChecked(checked)}.`);
  print(`It took ${seconds} s; the longest statement took ${Math.ceil(statementMsMax)} ms.`);
  print(mismatch === null ? "Every wallet matches its ledger." : describeMismatch(mismatch));
  return mismatch === null;
}

/**
 * Verifies in a thread with a small young generation. Otherwise, garbage would make the process grow to 370 MB. A thread reads the
 * flag for its heap size when it starts.
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
    worker.once("exit", () => reject(new Error("verification ended without a report")));
  });
}
