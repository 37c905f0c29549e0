import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../../../service/src/postgres/free-port.ts";
import { THIS_TREE } from "../other-tree.ts";

const mainOf = (tree: string): string => join(tree, "service/src/main.ts");

/** The service as a process of its own, as `npm run purser -- serve` and the README start it. Its address. */
export async function startService(
  databaseUrl: string,
  stack: AsyncDisposableStack,
  tree = THIS_TREE,
): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, ["--max-semi-space-size=64", mainOf(tree), "serve"], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "info",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => stop(child));
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the service ended with code ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.includes('"msg":"ready"')) resolve();
    });
  });
  return `http://127.0.0.1:${port}`;
}

/** Runs a command of Purser to its end, and fails as it fails. */
export function runCommand(databaseUrl: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [mainOf(THIS_TREE), ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`purser ${args.join(" ")} ended with code ${code}`)),
    );
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
