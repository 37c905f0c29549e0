import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { createDatabase, type TestDatabase } from "../../service/test/harness.ts";

const MAIN = join(import.meta.dirname, "../../service/src/main.ts");

export type FreshInstallation = {
  readonly database: TestDatabase;
  /** As it was printed. */
  readonly setupUrl: URL;
};

/** `purser serve` on a database that nobody owns: all that anybody has is the link in its log. */
export async function startFreshInstallation(): Promise<FreshInstallation> {
  const database = await createDatabase();
  const child = spawn(process.execPath, [MAIN, "serve"], {
    env: { DATABASE_URL: database.serviceUrl, PORT: "0", METRICS_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { setupUrl } = JSON.parse(line);
    if (typeof setupUrl === "string") return { database, setupUrl: new URL(setupUrl) };
  }
  throw new Error("the service ended without printing a link");
}
