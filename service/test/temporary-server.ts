import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../src/postgres/free-port.ts";
import { type LocalServer, type LocalServerOptions, startLocalServer } from "../src/postgres/local-server.ts";

export type TemporaryServer = LocalServer & {
  readonly port: number;
  readonly dataDirectory: string;
  /** Runs `pg_ctl stop -m immediate`, which ends the server without writing anything. Returns when the server has ended. */
  crash(): Promise<void>;
  /** Starts again on the same data. */
  restart(): Promise<void>;
};

/** Starts a PostgreSQL server with a temporary data directory, which `stop` deletes. */
export async function startTemporaryServer(
  name: string,
  {
    fill,
    port: wantedPort,
    ...options
  }: Pick<LocalServerOptions, "binDirectory" | "settings" | "environment"> & {
    /** Creates the data directory, instead of initdb. */
    fill?: (dataDirectory: string) => Promise<void>;
    /** The default is any free port. */
    port?: number;
  } = {},
): Promise<TemporaryServer> {
  const directory = await mkdtemp(join(tmpdir(), `purser-${name}-`));
  // If this process is root, the server runs as another user and needs access.
  await chmod(directory, 0o755);
  const port = wantedPort ?? (await freePort());
  const dataDirectory = join(directory, "data");
  await fill?.(dataDirectory);
  const start = () => startLocalServer({ dataDirectory, port, ...options });
  let server = await start();
  return {
    url: server.url,
    process: server.process,
    port,
    dataDirectory,
    async crash() {
      const { process } = server;
      if (process === null) throw new Error("the server was not started here");
      const ended = once(process, "exit");
      process.kill("SIGQUIT");
      await ended;
    },
    async restart() {
      server = await start();
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
