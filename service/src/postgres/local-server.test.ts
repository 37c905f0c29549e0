import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { binariesOfTheTestServer } from "../../test/own-server.ts";
import { freePort } from "./free-port.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";

type Directory = {
  readonly passwordFile: string;
  start(how: "with password" | "trusting"): Promise<LocalServer>;
};

async function makeDirectory(): Promise<Directory> {
  const directory = await mkdtemp(join(tmpdir(), "purser-local-"));
  // When tests run as root, the server runs as another user, who needs access to the directory.
  await chmod(directory, 0o755);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const dataDirectory = join(directory, "postgres");
  const passwordFile = join(directory, "password");
  const binDirectory = await binariesOfTheTestServer();
  return {
    passwordFile,
    async start(how) {
      const port = await freePort();
      const more = how === "trusting" ? {} : { passwordFile };
      const server = await startLocalServer({ dataDirectory, port, binDirectory, ...more });
      onTestFinished(() => server.stop());
      return server;
    },
  };
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function expectRefused(server: LocalServer): Promise<void> {
  const url = new URL(server.url("postgres"));
  url.password = "";
  await expect(query(url.href, "select")).rejects.toThrow("password");
  url.password = "guessed";
  await expect(query(url.href, "select")).rejects.toMatchObject({ code: "28P01" });
}

test("a new server requires a password, and only the owner can read the password file", async () => {
  const directory = await makeDirectory();
  const server = await directory.start("with password");
  await query(server.url("postgres"), "create table kept as select 42 as answer");
  await expectRefused(server);
  const [, password] = /:([\w-]{32})@/.exec(server.url("postgres")) ?? [];
  expect(await readFile(directory.passwordFile, "utf8")).toBe(`${password}\n`);
  expect((await stat(directory.passwordFile)).mode & 0o777).toBe(0o600);

  const found = await directory.start("with password");
  expect([found.process, found.url("postgres")]).toEqual([null, server.url("postgres")]);
  await server.stop();
  const again = await directory.start("with password");
  expect(again.url("postgres")).toContain(`:${password}@`);
  await again.stop();

  await writeFile(directory.passwordFile, "guessed\n");
  await expect(directory.start("with password")).rejects.toThrow("delete the file and start again");
  await rm(directory.passwordFile);
  const renewed = await directory.start("with password");
  expect(renewed.url("postgres")).not.toContain(`:${password}@`);
  expect(await query(renewed.url("postgres"), "select answer from kept")).toEqual([{ answer: 42 }]);
});

test("a data directory without a password keeps its data and gets a password", async () => {
  const directory = await makeDirectory();
  const trusting = await directory.start("trusting");
  await query(trusting.url("postgres"), "create table kept as select 42 as answer");

  await expect(directory.start("with password")).rejects.toThrow("stop it, then run purser dev again");
  expect(await query(trusting.url("postgres"), "select answer from kept")).toEqual([{ answer: 42 }]);
  await trusting.stop();

  const server = await directory.start("with password");
  expect(await query(server.url("postgres"), "select answer from kept")).toEqual([{ answer: 42 }]);
  await expectRefused(server);
});
