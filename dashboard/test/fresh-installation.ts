import { createInterface } from "node:readline";
import { createDatabase, type TestDatabase } from "../../service/test/harness.ts";
import { spawnPurser } from "../../service/test/purser.ts";

export type FreshInstallation = {
  readonly database: TestDatabase;
  readonly setupUrl: URL;
};

/** Starts `purser serve` on a new database and reads the setup link from the log. */
export async function startFreshInstallation(): Promise<FreshInstallation> {
  const database = await createDatabase();
  const child = spawnPurser(["serve"], { DATABASE_URL: database.serviceUrl, PORT: "0", METRICS_PORT: "0" });
  for await (const line of createInterface({ input: child.stdout })) {
    const { setupUrl } = JSON.parse(line);
    if (typeof setupUrl === "string") return { database, setupUrl: new URL(setupUrl) };
  }
  throw new Error("the service exited without logging a setup link");
}
