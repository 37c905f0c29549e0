import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";
import { send } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { withClient } from "../harness/database.ts";
import { OWNER } from "../harness/project.ts";
import { Service, THIS_TREE } from "../harness/purser.ts";
import { type ComposeService, readComposeFile, readImageEnvironment, startOrder } from "./compose-file.ts";

const run = promisify(execFile);
const LINES_MAX = 49;
const SECONDS_MAX = 120;
const PASSWORD_RULES = "host all all 127.0.0.1/32 scram-sha-256\n";

await runProof(
  {
    command: "npm run compose-proof",
    about: `Starts the services in deploy/compose.yaml in the same order and with the same settings, but without Docker: the secrets
script, PostgreSQL 18, and Purser from this tree. Then acts as a user: opens the setup link, creates a project and a token, applies
a catalog, and charges a customer. Needs root, because the script changes a file's owner.`,
    options: {},
  },
  async ({ stack }) => {
    const startMs = performance.now();
    const file = readComposeFile();
    const { services } = file;
    const faults = [
      ...(file.lines <= LINES_MAX ? [] : [`compose.yaml has ${file.lines} lines, more than ${LINES_MAX}`]),
      ...(services["postgres"]?.volumes?.includes("data:/var/lib/postgresql")
        ? []
        : ["PostgreSQL's data is not persisted"]),
      ...(services["purser"]?.ports?.includes("127.0.0.1:3300:3300")
        ? []
        : ["the port is reachable from other machines"]),
    ];
    const order = startOrder(file);
    if (order.join() !== "secrets,postgres,migrate,purser")
      faults.push(`the services start in the order ${order}`);

    const directory = await mkdtemp(join(tmpdir(), "purser-compose-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await chmod(directory, 0o755);
    faults.push(...(await makeSecrets(services["secrets"], directory)));
    const databaseUrlFile = await startPostgres(services["postgres"], directory, stack);
    const environment = {
      ...readImageEnvironment(),
      ...toText(services["purser"]?.environment),
      DATABASE_URL_FILE: databaseUrlFile,
    };
    await runPurser(services["migrate"]?.command ?? [], environment);
    const used = await usePurser(environment, stack);
    const secondsToCharge = Math.round((performance.now() - startMs) / 100) / 10;
    if (secondsToCharge > SECONDS_MAX) faults.push(`the first charge took ${secondsToCharge} s`);
    faults.push(...used.faults, ...(await tryPlaceholder(environment, directory)));
    return { faults, figures: { secondsToCharge, charged: used.charged, lines: file.lines } };
  },
);

function toText(values: ComposeService["environment"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** Runs the script twice. The second run must keep the secrets. */
async function makeSecrets(service: ComposeService | undefined, directory: string): Promise<string[]> {
  const [shell = "", ...flags] = service?.entrypoint ?? [];
  const [script = ""] = service?.command ?? [];
  const read = () =>
    Promise.all(["postgres-password", "database-url"].map((name) => readFile(join(directory, name), "utf8")));
  const generate = async () => {
    await run(shell, [...flags, script.replaceAll("/secrets/", `${directory}/`)]);
    return read();
  };
  const [password = "", url = ""] = await generate();
  const again = await generate();
  const { stdout: access } = await run("stat", ["-c", "%n %a %u", "postgres-password", "database-url"], {
    cwd: directory,
  });
  return [
    ...(/^[\w-]{32}\n$/.test(password) ? [] : ["the password does not have 32 characters"]),
    ...(url === `postgres://purser:${password.trim()}@postgres:5432/purser\n`
      ? []
      : ["the database URL is wrong"]),
    ...(again.join() === [password, url].join() ? [] : ["a second start changes the password"]),
    ...(access === "postgres-password 600 0\ndatabase-url 600 1000\n"
      ? []
      : [`other users can read the secrets: ${access}`]),
  ];
}

/** Applies the same settings as PostgreSQL's image. Returns a file with the URL of the server on this machine. */
async function startPostgres(
  service: ComposeService | undefined,
  directory: string,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { POSTGRES_USER, POSTGRES_PASSWORD_FILE } = toText(service?.environment);
  const password = (
    await readFile(join(directory, String(POSTGRES_PASSWORD_FILE?.replace("/secrets/", ""))), "utf8")
  ).trim();
  const server = await startTemporaryServer("compose");
  stack.defer(() => server.stop());
  await withClient(server.url("postgres"), async (client) => {
    await client.query(`create role ${POSTGRES_USER} superuser login password '${password}'`);
    await client.query(`create database ${POSTGRES_USER}`);
    await writeFile(join(server.dataDirectory, "pg_hba.conf"), PASSWORD_RULES);
    await client.query("select pg_reload_conf()");
  });
  const url = (await readFile(join(directory, "database-url"), "utf8")).replace(
    "@postgres:5432/",
    `@127.0.0.1:${server.port}/`,
  );
  const file = join(directory, "database-url-here");
  await writeFile(file, url);
  return file;
}

async function runPurser(args: readonly string[], environment: Record<string, string>): Promise<string> {
  const main = join(THIS_TREE, "service/src/main.ts");
  const env = { PATH: process.env["PATH"], ...environment };
  return (await run(process.execPath, [main, ...args], { env })).stdout;
}

async function usePurser(environment: Record<string, string>, stack: AsyncDisposableStack) {
  // Empty, because the database URL is in a file.
  const service = await Service.start("", stack, { environment });
  const setupUrl = new URL(await service.logged("setupUrl"));
  const faults =
    setupUrl.origin === environment["PUBLIC_URL"] ? [] : [`the setup link leads to ${setupUrl.origin}`];
  const { type } = JSON.parse((await send(`${service.url}/nowhere`, "GET", {})).text);
  if (type !== `${environment["PUBLIC_URL"]}/docs/errors/not_found`)
    faults.push(`the type of an error is ${type}`);

  const opened = await send(`${service.url}/manage/v1/setup`, "POST", {
    body: { token: setupUrl.hash.slice(1), ...OWNER },
  });
  const [cookie = ""] = opened.headers.getSetCookie();
  const headers = {
    cookie: cookie.split(";", 1)[0] ?? "",
    origin: service.url,
    "sec-fetch-site": "same-origin",
  };
  const manage = async (path: string, body: object) => {
    const reply = await send(`${service.url}/manage/v1/${path}`, "POST", { body, headers });
    if (reply.status !== 200) throw new Error(`${path} returned ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text);
  };
  const { project, secrets } = await manage("projects", { name: "My product" });
  const { secret: token } = await manage("tokens", { name: "Catalog", role: "admin" });
  const catalog = join(THIS_TREE, "docs/guides/catalog.json");
  const settings = { PURSER_URL: service.url, PURSER_TOKEN: token };
  await runPurser(["catalog", "apply", catalog, "--project", project.id, "--environment", "live"], settings);
  const reply = await send(`${service.url}/v1/consume`, "POST", {
    secret: secrets.live,
    body: { customerId: "customer_1", feature: "image.generate", idempotencyKey: "first" },
  });
  const { allowed, creditsCharged: charged } = JSON.parse(reply.text);
  if (allowed !== true || charged !== 10) faults.push(`the charge was not made: ${reply.text}`);
  return { faults, charged };
}

/** An installation that is reachable from other machines must not start with an example password. */
async function tryPlaceholder(environment: Record<string, string>, directory: string): Promise<string[]> {
  const file = join(directory, "placeholder");
  await writeFile(file, "postgres://purser:change-me@127.0.0.1:1/purser");
  const settings = { ...environment, DATABASE_URL_FILE: file, PUBLIC_URL: "https://purser.example.com" };
  const refusal = await runPurser(["migrate"], settings).catch((error: Error) => error.message);
  return refusal.includes("DATABASE_URL uses a placeholder")
    ? []
    : [`a placeholder was accepted: ${refusal}`];
}
