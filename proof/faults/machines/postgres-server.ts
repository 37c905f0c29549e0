import { chmod, mkdtemp, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startLocalServer } from "../../../service/src/postgres/local-server.ts";
import { integerBetween } from "../chance.ts";
import { pause } from "../pause.ts";
import type { CleanUp } from "./clean-up.ts";
import { killAll, listWorkingIn } from "./process-tree.ts";
import { steadyPort } from "./steady-port.ts";

const GONE_WITHIN_MS = 10_000;
const GONE_LOOK_MS = 10;
const LOAD_AGAIN_MS = { min: 20, max: 60 };
const ACCEPTS_WITHIN_MS = 60_000;
const PROBE_PAUSE_MS = 10;

/** A real PostgreSQL with fsync on, in a temporary directory, that can be killed and started again on its data. */
export class PostgresServer {
  readonly #dataDirectory: string;
  readonly #port: number;

  private constructor(dataDirectory: string, port: number) {
    this.#dataDirectory = dataDirectory;
    this.#port = port;
  }

  static async create(cleanUp: CleanUp): Promise<PostgresServer> {
    // The real path, as /proc will name it.
    const directory = await realpath(await mkdtemp(join(tmpdir(), "purser-faults-")));
    cleanUp.addPath(directory);
    // Under root the server runs as another user, who must be able to enter.
    await chmod(directory, 0o755);
    return new PostgresServer(join(directory, "data"), await steadyPort());
  }

  url(role: string, database: string): string {
    return `postgres://${role}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Ends when it accepts connections, with the moment of the first one. */
  async start(): Promise<{ acceptedAtMs: number }> {
    const [acceptedAtMs] = await Promise.all([
      this.#probe(),
      startLocalServer({ dataDirectory: this.#dataDirectory, port: this.#port }),
    ]);
    return { acceptedAtMs };
  }

  /**
   * Postmaster and backends with SIGKILL; ends when all are gone, so that nothing holds the old shared memory. They
   * are found by their working directory: a backend is in no process group of the postmaster's, and once that is dead
   * it is nobody's child.
   */
  async kill(): Promise<{ killedAtMs: number }> {
    const pids = listWorkingIn(this.#dataDirectory);
    if (pids.length < 2) throw new Error("there is no PostgreSQL to kill");
    // The search held up the clients, who are in this process: killed now, the server would be idle.
    await pause(integerBetween(LOAD_AGAIN_MS.min, LOAD_AGAIN_MS.max));
    const killedAtMs = performance.now();
    killAll(pids);
    for (let left = pids; left.length > 0; left = listWorkingIn(this.#dataDirectory)) {
      if (performance.now() - killedAtMs > GONE_WITHIN_MS) throw new Error("PostgreSQL survived SIGKILL");
      // Also those that were forked in between.
      killAll(left);
      await pause(GONE_LOOK_MS);
    }
    return { killedAtMs };
  }

  /** `pg_ctl stop -m immediate`: the server ends at once and writes nothing more. Ends when it is gone. */
  async stopImmediately(): Promise<void> {
    const [pid] = (await readFile(join(this.#dataDirectory, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGQUIT");
    const stoppedAtMs = performance.now();
    while (listWorkingIn(this.#dataDirectory).length > 0) {
      if (performance.now() - stoppedAtMs > GONE_WITHIN_MS) throw new Error("PostgreSQL survived SIGQUIT");
      await pause(GONE_LOOK_MS);
    }
  }

  /** More often than the starter looks: the time to recovery is counted from this moment. */
  async #probe(): Promise<number> {
    const giveUpAtMs = performance.now() + ACCEPTS_WITHIN_MS;
    while (performance.now() < giveUpAtMs) {
      const client = new pg.Client({ connectionString: this.url("postgres", "postgres") });
      client.on("error", () => {});
      const isAccepted = await client.connect().then(
        () => true,
        () => false,
      );
      const atMs = performance.now();
      await client.end().catch(() => {});
      if (isAccepted) return atMs;
      await pause(PROBE_PAUSE_MS);
    }
    throw new Error("PostgreSQL did not accept a connection in time");
  }
}
