import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../src/postgres/free-port.ts";
import type { TestDatabase } from "./harness.ts";

export type PgBouncer = {
  /** The database as reached through the pooler. */
  readonly database: TestDatabase;
  /** Changes the mode. Open connections use it after their current transaction. */
  setMode(mode: PoolMode): Promise<void>;
};

export type PoolMode = "session" | "transaction" | "statement";

/** Starts Debian's PgBouncer in front of a database, with defaults except for mode and pool size. */
export async function startPgBouncer(behind: TestDatabase, mode: PoolMode): Promise<PgBouncer> {
  const directory = await mkdtemp(join(tmpdir(), "purser-pgbouncer-"));
  await chmod(directory, 0o755);
  const port = await freePort();
  const { port: serverPort, pathname } = new URL(behind.url);
  const database = pathname.slice(1);
  const write = async (poolMode: PoolMode): Promise<void> => {
    await writeFile(
      join(directory, "pgbouncer.ini"),
      `[databases]
${database} = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, "users.txt")}
pool_mode = ${poolMode}
default_pool_size = 50
`,
    );
  };
  const roles = [behind.url, behind.serviceUrl].map((url) => `"${new URL(url).username}" ""\n`);
  await writeFile(join(directory, "users.txt"), roles.join(""));
  await write(mode);
  const child = spawn("/usr/sbin/pgbouncer", [join(directory, "pgbouncer.ini")], {
    stdio: "ignore",
    ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGQUIT");
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
  const through = (url: string): string => url.replace(`:${serverPort}/`, `:${port}/`);
  const pooled = { ...behind, url: through(behind.url), serviceUrl: through(behind.serviceUrl) };
  const accepts = async (): Promise<boolean> => {
    const client = new pg.Client(pooled.url);
    client.on("error", () => {});
    const isAccepted = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    return isAccepted;
  };
  await expect.poll(accepts).toBe(true);
  return {
    database: pooled,
    async setMode(next) {
      await write(next);
      child.kill("SIGHUP");
    },
  };
}
