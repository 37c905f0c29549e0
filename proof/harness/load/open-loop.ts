import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Call } from "./calls.ts";

export type OpenLoopOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly call: Call;
  readonly customers: number;
  readonly perSecond: number;
  /** Sent at the same rate and not measured. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly keyPrefix: string;
};

export type OpenLoopResult = {
  readonly sent: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How late the generator itself was, which is part of the above. */
  readonly lateP99Ms: number;
};

/** In a process of its own, so that nothing but sending and reading takes its time. */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const program = join(import.meta.dirname, "open-loop-main.ts");
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(options));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`the open loop ended with code ${code}`);
  return JSON.parse(output);
}
