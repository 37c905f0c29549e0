import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { COMPILE_CACHE } from "../../service/test/purser.ts";

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a program with only these environment variables, PATH and the compile cache of Node.js, until it ends. */
export async function runProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Run> {
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"], ...COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve, reject) =>
    child.once("exit", resolve).once("error", reject),
  );
  const [code, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
