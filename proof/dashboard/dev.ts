import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../service/src/postgres/free-port.ts";
import type { Owner } from "./chromium.ts";

const MAIN = join(import.meta.dirname, "../../service/src/main.ts");

export type Development = {
  readonly url: string;
  readonly owner: Owner;
  readonly managementToken: string;
};

/** `purser dev` as a newcomer has it: a directory of its own, and nothing left of it afterwards. */
export async function startDevelopment(
  options: readonly string[],
  stack: AsyncDisposableStack,
): Promise<Development> {
  const directory = await mkdtemp(join(tmpdir(), "purser-screenshots-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  // As root the server runs as another user, who must be able to enter.
  await chmod(directory, 0o755);
  const args = ["dev", "--json", "--port", String(await freePort()), "--directory", directory, ...options];
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  stack.defer(() => end(child));
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("exit", (code) => reject(new Error(`purser dev ended with code ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("\n")) resolve(JSON.parse(said.slice(0, said.indexOf("\n"))));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
