import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../src/postgres/free-port.ts";
import { type LocalServer, type LocalServerOptions, startLocalServer } from "../src/postgres/local-server.ts";

export type TemporaryServer = LocalServer & { readonly port: number };

/** A PostgreSQL with a data directory and a port of its own; both are gone when it is stopped. */
export async function startTemporaryServer(
  name: string,
  options: Pick<LocalServerOptions, "binDirectory" | "settings"> = {},
): Promise<TemporaryServer> {
  const directory = await mkdtemp(join(tmpdir(), `purser-${name}-`));
  // As root the server runs as another user, who must be able to enter.
  await chmod(directory, 0o755);
  const port = await freePort();
  const server = await startLocalServer({ dataDirectory: join(directory, "data"), port, ...options });
  return {
    ...server,
    port,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
