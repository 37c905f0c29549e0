import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const RECIPES = join(import.meta.dirname, "../../docs/recipes");
const LISTENING = /^listening on (\d+)$/;

export type RecipeServer = {
  readonly url: string;
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>;
};

/** Runs the server that users copy, with only these environment variables, until the test ends. */
export async function startServer(
  recipe: string,
  env: Readonly<Record<string, string>>,
): Promise<RecipeServer> {
  const child = spawn(process.execPath, [join(RECIPES, recipe, "server.mjs")], {
    env: { ...env, PORT: env["PORT"] ?? "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => kill(child));
  for await (const text of createInterface(child.stdout)) {
    const port = LISTENING.exec(text)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    return { url: `http://127.0.0.1:${port}`, kill: () => kill(child) };
  }
  throw new Error("the recipe ended before it was listening");
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
