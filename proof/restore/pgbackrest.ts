import { execFile } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startTemporaryServer, type TemporaryServer } from "../../service/test/temporary-server.ts";
import { databaseAt } from "../harness/database.ts";
import { THIS_TREE } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";

const run = promisify(execFile);

/** Debian's PostgreSQL, because Debian's pgBackRest supports this version. */
const BIN = "/usr/lib/postgresql/15/bin";
const STANZA = "purser";
/** A long time limit, because the recovery of a large backup takes time. */
const RECOVERY_SECONDS_MAX = 7_200;
const POLL_MS = 200;
/** Commit times are needed to calculate what a restored server must contain. */
const SETTINGS = [
  "shared_buffers=512MB",
  "max_wal_size=4GB",
  "max_connections=200",
  "track_commit_timestamp=on",
];

/** Runs a PostgreSQL command-line tool. */
export function runTool(name: "pg_dump" | "pg_restore", args: readonly string[]): Promise<unknown> {
  return run(join(BIN, name), [...args]);
}

/** A server without archiving, for a dump or a restored backup. */
export async function startServer(
  stack: AsyncDisposableStack,
  settings: readonly string[] = [],
  fill: (dataDirectory: string) => Promise<void> = async () => {},
): Promise<TemporaryServer> {
  const port = await steadyPort();
  const server = await startTemporaryServer("restore", {
    ...{ port, fill, binDirectory: BIN, settings: [...SETTINGS, ...settings] },
  });
  stack.defer(() => server.stop());
  return server;
}

/** A server that archives its write-ahead log with pgBackRest, using the configuration in docs/operations/backup.md. */
export class ArchivedServer {
  readonly server: TemporaryServer;
  readonly #directory: string;
  readonly #owner: { readonly uid: number; readonly gid: number };

  static async start(stack: AsyncDisposableStack): Promise<ArchivedServer> {
    const directory = await mkdtemp(join(tmpdir(), "purser-pgbackrest-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    // The server runs as another user if this process is root, and creates its socket here.
    await chmod(directory, 0o777);
    const push = `pgbackrest --config=${directory}/pgbackrest.conf --stanza=${STANZA} archive-push %p`;
    const server = await startServer(stack, [
      ...["archive_mode=on", `archive_command=${push}`, "archive_timeout=60s"],
      `unix_socket_directories=${directory}`,
    ]);
    const { uid, gid } = await stat(server.dataDirectory);
    const archived = new ArchivedServer(server, directory, { uid, gid });
    await archived.#configure();
    await archived.#pgbackrest(["stanza-create"]);
    return archived;
  }

  private constructor(
    server: TemporaryServer,
    directory: string,
    owner: { readonly uid: number; readonly gid: number },
  ) {
    this.server = server;
    this.#directory = directory;
    this.#owner = owner;
  }

  /** A full backup while the server runs. */
  backUp(): Promise<void> {
    return this.#pgbackrest(["--type=full", "backup"]);
  }

  /** Returns when the write-ahead log up to now is in the archive. */
  archiveAll(): Promise<void> {
    return this.#pgbackrest(["check"]);
  }

  async backupBytes(): Promise<number> {
    const { stdout } = await run("du", ["-sb", join(this.#directory, "repo/backup")]);
    return Number.parseInt(stdout, 10);
  }

  /** Restores the state at this moment to another server. Returns when it accepts writes. */
  restoreTo(moment: string, stack: AsyncDisposableStack): Promise<TemporaryServer> {
    return startServer(stack, [], async (dataDirectory) => {
      await mkdir(dataDirectory, { mode: 0o700 });
      await chown(dataDirectory, this.#owner.uid, this.#owner.gid);
      const target = ["--type=time", `--target=${moment}`, "--target-action=promote"];
      await this.#pgbackrest([`--pg1-path=${dataDirectory}`, ...target, "restore"]);
      const port = await steadyPort();
      const log = join(this.#directory, "recovery.log");
      const settings = [
        ...SETTINGS,
        `port=${port}`,
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
      ];
      const limit = ["-t", String(RECOVERY_SECONDS_MAX)];
      const flags = settings.map((setting) => `-c ${setting}`).join(" ");
      const pgCtl = (args: readonly string[]) =>
        run(join(BIN, "pg_ctl"), ["-D", dataDirectory, "-w", ...limit, ...args], {
          ...this.#owner,
          cwd: "/",
        });
      // Fails if the server has already stopped, which is expected unless the recovery was interrupted.
      stack.defer(async () => void (await pgCtl(["-m", "immediate", "stop"]).catch(() => {})));
      try {
        await pgCtl(["-l", log, "-o", flags, "start"]);
        await awaitRecovery(`postgres://postgres@127.0.0.1:${port}/postgres`);
      } catch (error) {
        throw new Error(`the recovery failed:\n${await readFile(log, "utf8")}`, { cause: error });
      }
      await pgCtl(["-m", "fast", "stop"]);
    });
  }

  /** The documented configuration, with the paths and the port of this run. */
  async #configure(): Promise<void> {
    const page = await readFile(join(THIS_TREE, "docs/operations/backup.md"), "utf8");
    const [, documented] = /```ini\n(\[global\][^`]+)```/.exec(page) ?? [];
    if (documented === undefined) throw new Error("docs/operations/backup.md has no configuration");
    for (const name of ["repo", "log", "lock", "spool"]) {
      await mkdir(join(this.#directory, name));
      await chown(join(this.#directory, name), this.#owner.uid, this.#owner.gid);
    }
    const own = ["log", "lock", "spool"].map((name) => `${name}-path=${this.#directory}/${name}`);
    const text = documented
      .replace(/^repo1-path=.*$/m, [`repo1-path=${this.#directory}/repo`, ...own].join("\n"))
      .replace(/^pg1-path=.*$/m, `pg1-path=${this.server.dataDirectory}\npg1-port=${this.server.port}`);
    const socket = `pg1-socket-path=${this.#directory}\npg1-user=postgres\n`;
    await writeFile(join(this.#directory, "pgbackrest.conf"), `${text}${socket}`);
  }

  async #pgbackrest(args: readonly string[]): Promise<void> {
    const all = [`--config=${this.#directory}/pgbackrest.conf`, `--stanza=${STANZA}`, ...args];
    await run("pgbackrest", ["--log-level-console=warn", ...all], { ...this.#owner, cwd: "/" }).catch(
      (error: Error & { stdout?: string }) => {
        throw new Error(`${error.message}\n${error.stdout ?? ""}`);
      },
    );
  }
}

/** During recovery, the server accepts read-only connections. If it cannot reach its target, it stops. */
async function awaitRecovery(url: string): Promise<void> {
  for (;;) {
    const [row] = await databaseAt(url).query("select pg_is_in_recovery() as is_recovering");
    if (row?.["is_recovering"] === false) return;
    await pause(POLL_MS);
  }
}

/** Bytes of the database with its indexes. */
export async function databaseBytes(url: string): Promise<number> {
  const [row] = await databaseAt(url).query("select pg_database_size(current_database()) as bytes");
  return Number(row?.["bytes"]);
}
