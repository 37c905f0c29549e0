import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../src/postgres/free-port.ts";
import { type LocalServer, type LocalServerOptions, startLocalServer } from "../src/postgres/local-server.ts";

export type TemporaryServer = LocalServer & {
  readonly port: number;
  readonly dataDirectory: string;
  /** `pg_ctl stop -m immediate`: nothing is written on the way out. Ends when the server is gone. */
  crash(): Promise<void>;
  /** On the data that a crash left. */
  restart(): Promise<void>;
};

/** A PostgreSQL with a data directory and a port of its own; both are gone when it is stopped. */
export async function startTemporaryServer(
  name: string,
  {
    fill,
    port: wantedPort,
    ...options
  }: Pick<LocalServerOptions, "binDirectory" | "settings" | "environment"> & {
    /** Makes the data directory instead of initdb. */
    fill?: (dataDirectory: string) => Promise<void>;
    /** Any free one, unless it says which. */
    port?: number;
  } = {},
): Promise<TemporaryServer> {
  const directory = await mkdtemp(join(tmpdir(), `purser-${name}-`));
  // As root the server runs as another user, who must be able to enter.
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
      if (process === null) throw new Error("the server is not ours to crash");
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
