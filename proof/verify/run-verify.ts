import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const MAIN = join(import.meta.dirname, "../../service/src/main.ts");
const SAMPLE_MS = 20;

export type VerifyRun = {
  /** Null: it was stopped. */
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
  /** The most memory that it ever had, as the kernel counts it. */
  readonly peakMegabytes: number;
};

export type Verification = { readonly ended: Promise<VerifyRun>; stop(): void };

/** The command as an operator runs it, in a process of its own. */
export function startVerify(databaseUrl: string, options: readonly string[] = []): Verification {
  const startMs = performance.now();
  const child = spawn(process.execPath, [MAIN, "verify", ...options], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let peakKilobytes = 0;
  const sampler = setInterval(async () => {
    // Gone at the end of the process.
    const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
    peakKilobytes = Math.max(peakKilobytes, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0));
  }, SAMPLE_MS);
  const finish = async (): Promise<VerifyRun> => {
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    clearInterval(sampler);
    const seconds = (performance.now() - startMs) / 1_000;
    return { code, output, seconds, peakMegabytes: peakKilobytes / 1_024 };
  };
  return { ended: finish(), stop: () => child.kill("SIGTERM") };
}

/** To its end, which must be a good one. */
export async function verify(databaseUrl: string): Promise<VerifyRun> {
  const run = await startVerify(databaseUrl).ended;
  if (run.code !== 0) throw new Error(`verify ended with code ${run.code}: ${run.output}`);
  return run;
}
