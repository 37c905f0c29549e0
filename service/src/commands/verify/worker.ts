import { constants, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { verifyDatabase } from "./verify-database.ts";

// A thread with a small heap (see commands/verify.ts), which waits for whoever else has something to do.
setPriority(constants.priority.PRIORITY_LOW);
parentPort?.postMessage(await verifyDatabase(workerData));
