import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDatabase, createTestProject, post, type TestDatabase } from "../../test/harness.ts";
import { cookieOf, send } from "../../test/manage.ts";
import { runPurser, spawnPurser } from "../../test/purser.ts";
import { freePort } from "../postgres/free-port.ts";
import { startLocalServer } from "../postgres/local-server.ts";
import { makeApiKey } from "../primitives/secret.ts";

const OWNER = { email: "Boss@Example.com", password: "seven-green-kettles" };

type Started = {
  /** The first line that reports that the service is ready. */
  readonly ready: Record<string, unknown>;
  readonly lines: readonly Record<string, unknown>[];
  stop(): Promise<void>;
};

// These tests start several processes one after another.
vi.setConfig({ testTimeout: 120_000 });

/** Runs a command until it prints a line that `isReady` accepts; each line is JSON. */
async function start(
  args: readonly string[],
  env: Record<string, string>,
  isReady: (line: Record<string, unknown>) => boolean,
): Promise<Started> {
  const child = spawnPurser(args, env);
  child.stderr.pipe(process.stderr);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  onTestFinished(stop);
  const lines: Record<string, unknown>[] = [];
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const texts = (rest + String(chunk)).split("\n");
    rest = texts.pop() ?? "";
    lines.push(...texts.map((text) => JSON.parse(text)));
  });
  await expect
    .poll(() => child.exitCode !== null || lines.some(isReady), { timeout: 25_000, interval: 50 })
    .toBe(true);
  expect(child.exitCode).toBe(null);
  return { ready: lines.find(isReady) ?? {}, lines, stop };
}

const serve = (database: TestDatabase, env: Record<string, string> = {}): Promise<Started> =>
  start(
    ["serve"],
    { DATABASE_URL: database.serviceUrl, PORT: "0", METRICS_PORT: "0", ...env },
    ({ msg }) => msg === "ready",
  );

const setupUrlOf = ({ lines }: Started): string | undefined =>
  lines.map(({ setupUrl }) => setupUrl).find((url) => typeof url === "string");

test("serve logs a setup link until the first member exists", async () => {
  const database = await createDatabase();
  const first = await serve(database);
  await expect.poll(() => setupUrlOf(first)).toBeDefined();
  const setupUrl = new URL(setupUrlOf(first) ?? "");
  expect([setupUrl.origin, setupUrl.pathname]).toEqual([first.ready["url"], "/setup"]);
  const url = `${setupUrl.origin}/manage/v1/setup`;
  const body = { token: setupUrl.hash.slice(1), name: "Boss", ...OWNER };
  const made = await send(url, "POST", { body });
  expect(made.body).toMatchObject({ email: "boss@example.com", role: "owner" });
  const projects = await send(`${setupUrl.origin}/manage/v1/projects`, "POST", {
    body: { name: "First" },
    headers: cookieOf(made, setupUrl.origin),
  });
  expect(projects.status).toBe(200);
  await first.stop();
  const second = await serve(database);
  await second.stop();
  expect(setupUrlOf(second)).toBe(undefined);
});

test("the setup link and the log use PUBLIC_URL", async () => {
  const served = await serve(await createDatabase(), { PUBLIC_URL: "https://purser.example.com" });
  await expect.poll(() => setupUrlOf(served)).toMatch(/^https:\/\/purser\.example\.com\/setup#\S+$/);
  expect(served.ready).toMatchObject({ publicUrl: "https://purser.example.com" });
});

test("the first owner and API key are created once from environment variables, even by concurrent processes", async () => {
  const database = await createDatabase();
  const key = makeApiKey("live");
  const env = { INIT_OWNER_EMAIL: OWNER.email, INIT_OWNER_PASSWORD: OWNER.password, INIT_API_KEY: key };
  const [first, second] = await Promise.all([serve(database, env), serve(database, env)]);
  expect(await database.count("control.members")).toBe(1);
  expect(await database.count("control.projects")).toBe(1);
  expect(await database.count("control.workspaces")).toBe(1);
  expect(await database.count("control.api_keys")).toBe(1);
  for (const { ready } of [first, second]) {
    const event = { customerId: "c", event: "e", quantity: 1 };
    expect((await post(`${ready["url"]}/v1/events`, key, event)).status).toBe(200);
    const session = await send(`${ready["url"]}/manage/v1/session`, "POST", { body: OWNER });
    expect(session.body).toMatchObject({ role: "owner", email: "boss@example.com" });
  }
  expect(await database.count("control.links")).toBe(0);
  await Promise.all([first.stop(), second.stop()]);
  expect(JSON.stringify([first.lines, second.lines])).not.toContain(OWNER.password);
  expect(JSON.stringify([first.lines, second.lines])).not.toContain(key);

  const other = {
    INIT_OWNER_EMAIL: "x@example.com",
    // An older release accepted ten characters.
    INIT_OWNER_PASSWORD: "ten-chars!",
    INIT_API_KEY: makeApiKey("test"),
  };
  await serve(database, other);
  expect(await database.count("control.members")).toBe(1);
  expect(await database.count("control.api_keys")).toBe(1);
});

test("the initial API key is created only in an installation without projects", async () => {
  const database = await createDatabase();
  await createTestProject(database);
  const { ready } = await serve(database, { INIT_API_KEY: makeApiKey("test") });
  expect(await database.count("control.projects")).toBe(1);
  expect(await database.count("control.api_keys")).toBe(2);
  expect(ready["url"]).toMatch(/^http/);
});

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "purser-dev-"));
  // When tests run as root, PostgreSQL runs as another user, who needs access to the directory.
  await chmod(directory, 0o755);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const dev = (directory: string): Promise<Started> =>
  start(
    ["dev", "--json", "--no-demo", "--port", "0", "--directory", directory],
    {},
    ({ ready }) => ready === true,
  );

test("dev prints the same credentials at each start, with a new login link", {
  timeout: 120_000,
}, async () => {
  const directory = await makeDirectory();
  const first = await dev(directory);
  const { url, owner, managementToken, signIn } = first.ready as Record<string, string>;
  expect(String(signIn)).toMatch(new RegExp(`^${url}/sign-in#pur_link_\\w{38}$`));
  const session = await send(`${url}/manage/v1/session`, "POST", { body: owner });
  expect(session.body).toMatchObject({ kind: "member", role: "owner" });
  const projects = await send(`${url}/manage/v1/projects`, "GET", { token: managementToken ?? "" });
  expect(projects.body["items"]).toMatchObject([{ name: "My product" }]);
  const follow = async (link: string | undefined) => {
    const token = String(link).split("#")[1];
    return send(`${new URL(String(link)).origin}/manage/v1/links`, "POST", { body: { token } });
  };
  const followed = await follow(signIn);
  const me = await send(`${url}/manage/v1/session`, "GET", { headers: cookieOf(followed, String(url)) });
  expect(me.body).toMatchObject({ email: (owner as unknown as { email: string }).email });
  expect((await follow(signIn)).status).toBe(410);
  expect((await stat(join(directory, "owner.json"))).mode & 0o777).toBe(0o600);
  await first.stop();

  const second = await dev(directory);
  const { signIn: newSignIn, ...kept } = second.ready as Record<string, string>;
  expect(kept).toMatchObject({ owner, managementToken, keys: first.ready["keys"] });
  expect((await follow(newSignIn)).status).toBe(200);
  const again = await send(`${kept["url"]}/manage/v1/session`, "POST", { body: owner });
  expect(again.status).toBe(200);
});

test("dev checks its port before it starts anything", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = String(typeof address === "object" ? address?.port : 0);
  const directory = join(await makeDirectory(), "new");
  const { code, stdout, stderr } = await runPurser(["dev", "--port", port, "--directory", directory], {});
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`127.0.0.1:${port}; choose another with PORT`);
  await expect(stat(directory)).rejects.toThrow("ENOENT");
});

test("npm run dev asks for npm ci if the dependencies are missing", async () => {
  const directory = await makeDirectory();
  await copyFile(join(import.meta.dirname, "../../../package.json"), join(directory, "package.json"));
  const started = promisify(execFile)("npm", ["run", "dev"], { cwd: directory });
  await expect(started).rejects.toMatchObject({ stderr: expect.stringContaining("Run: npm ci") });
});

test("dev's database requires the printed password, even in a directory that trusted all connections", async () => {
  const directory = await makeDirectory();
  const dataDirectory = join(directory, "postgres");
  const old = await startLocalServer({ dataDirectory, port: await freePort() });
  await query(old.url("postgres"), "create table kept as select 42 as answer");
  await old.stop();

  const { databaseUrl } = (await dev(directory)).ready as Record<string, string>;
  const url = new URL(String(databaseUrl));
  url.pathname = "/postgres";
  expect(await query(url.href, "select answer from kept")).toEqual([{ answer: 42 }]);
  const verified = await runPurser(["verify"], { DATABASE_URL: String(databaseUrl) });
  expect(verified.stdout).toContain("0 customers");
  url.password = "";
  await expect(query(url.href, "select")).rejects.toThrow("password");
  url.password = "guessed";
  await expect(query(url.href, "select")).rejects.toMatchObject({ code: "28P01" });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
