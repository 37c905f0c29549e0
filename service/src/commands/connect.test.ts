import { connect as connectTo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/harness.ts";
import { runPurser } from "../../test/purser.ts";
import { createProject } from "../manage/projects/create-project.ts";
import { connect, withPool } from "./connect.ts";

/** Starts a proxy that forwards connections after a delay, or never. Returns its URL. */
async function delayed(url: string, delayMs: number | null): Promise<string> {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(url);
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    if (delayMs === null) return;
    setTimeout(() => {
      const other = connectTo(Number(port), hostname);
      sockets.add(other.on("error", () => {}));
      socket.pipe(other).pipe(socket);
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const proxied = new URL(url);
  proxied.port = String(typeof address === "object" ? address?.port : 0);
  return proxied.href;
}

test("a command works with a database server that is slow to accept connections", async () => {
  const database = await createDatabase();
  const url = await delayed(database.url, 1_500);
  await withPool(url, (pool) => createProject(pool, "My product"));
  expect(await database.count("control.projects")).toBe(1);
});

test("a command that cannot connect reports how long it waited, and does nothing", async () => {
  const database = await createDatabase();
  const url = await delayed(database.url, null);
  const message = "cannot use the database in DATABASE_URL: no connection within 0.3 s";
  await expect(connect(url, { timeoutMs: 300 })).rejects.toThrow(message);
  const work = withPool(url, (pool) => createProject(pool, "My product"), { timeoutMs: 300 });
  await expect(work).rejects.toThrow(message);
  expect(await database.count("control.projects")).toBe(0);
});

test.each([["create-project", "My product"], ["verify"], ["serve"]])(
  "%s mentions sslmode in its error if the server has no SSL",
  async (...args) => {
    const database = await createDatabase();
    const url = new URL(database.url);
    url.searchParams.set("sslmode", "verify-full");
    const { code, stderr } = await runPurser(args, { DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toContain("does not support SSL connections: remove sslmode from the URL");
    expect(stderr).toMatch(/Nothing was (changed|verified)/);
  },
);
