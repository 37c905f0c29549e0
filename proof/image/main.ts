import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Caller } from "../harness/caller.ts";
import { FEATURE } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject, PLANS } from "../harness/project.ts";
import { collectOutput, endProcess, THIS_TREE } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";
import { buildah, buildImage, type ImageConfig, inspectImage, mountImage, spawnInside } from "./buildah.ts";
import { findSecrets, findUnwanted, hasSecret, listFiles } from "./files.ts";

const BASE = "node:24-bookworm-slim";
const IMAGE = "localhost/purser:proof";
const MEGABYTES_MAX = 120;
const READY_WITHIN_MS = 150_000;
const CATALOG = { features: { [FEATURE]: { credits: 10, per: 1 } }, plans: PLANS, defaultPlan: "pro" };

await runProof(
  {
    command: "npm run image-proof",
    about: `Builds deploy/Dockerfile with buildah and checks what it adds to its base: size, user, labels, and that neither history
nor files contain secrets or development files. Then runs the image as its user, with its files mounted read-only, against a real
PostgreSQL: migrates, serves, makes a charge, and stops. Needs Linux, root and Debian's packages buildah and util-linux.`,
    options: { image: { default: null, takes: "NAME", help: "check this image instead of building one" } },
  },
  async ({ options, stack }) => {
    const revision = execFileSync("git", ["rev-parse", "HEAD"], { cwd: THIS_TREE, encoding: "utf8" }).trim();
    const startMs = performance.now();
    if (options.image === null) {
      await buildImage(IMAGE, revision);
      stack.defer(async () => {
        await buildah("rmi", "--force", IMAGE);
      });
    }
    const buildSeconds = Math.round((performance.now() - startMs) / 1_000);

    const name = options.image ?? IMAGE;
    const { Docker } = await inspectImage(name);
    const { config } = Docker;
    const tree = await mountImage(name, stack);
    const before = listFiles(await mountImage(BASE, stack));
    const added = [...listFiles(tree).values()].filter(
      ({ path, bytes }) => before.get(path)?.bytes !== bytes,
    );
    const megabytes = added.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    const secrets = ownSecrets();
    const history = Docker.history.map(({ created_by = "" }) => created_by);
    const faults = [
      ...checkConfig(config, options.image === null ? revision : null),
      ...findUnwanted(added),
      ...findSecrets(tree, added, secrets),
      ...history
        .filter((line) => hasSecret(line, secrets))
        .map((line) => `the history has a secret: ${line}`),
      ...(megabytes > MEGABYTES_MAX ? [`it adds ${megabytes} MB, more than ${MEGABYTES_MAX}`] : []),
    ];
    const image = { tree, config };
    faults.push(...(await checkReadOnly(image)));
    const used = await useImage(image, stack);
    faults.push(...used.faults);
    return {
      faults,
      figures: {
        addedMegabytes: Math.round(megabytes * 10) / 10,
        addedFiles: added.length,
        user: config.User,
        buildSeconds,
        readySeconds: used.readySeconds,
        charged: used.charged,
        layersOfHistory: history.length,
      },
    };
  },
);

/** The passwords and tokens of this machine's npm settings. */
function ownSecrets(): string[] {
  const file = join(homedir(), ".npmrc");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").matchAll(/_(?:authToken|auth|password) *= *"?([^"\s]{8,})/gi);
  return [...lines].map(([, secret = ""]) => secret);
}

function checkConfig(
  { User, Env, Labels, Healthcheck, ExposedPorts }: ImageConfig,
  revision: string | null,
): string[] {
  const { version } = JSON.parse(readFileSync(join(THIS_TREE, "package.json"), "utf8"));
  const label = (name: string) => Labels[`org.opencontainers.image.${name}`];
  const expected = {
    "a numeric user that is not root": /^[1-9]\d*:[1-9]\d*$/.test(User),
    "a health check": Healthcheck?.Test[0] === "CMD",
    "HOST and METRICS_HOST set to all addresses": ["HOST", "METRICS_HOST"].every((name) =>
      Env.includes(`${name}=0.0.0.0`),
    ),
    "both ports": Object.keys(ExposedPorts).sort().join() === "3300/tcp,9464/tcp",
    "this version as label": label("version") === version,
    "this revision as label": revision === null || label("revision") === revision,
    "title, description and license":
      label("title") === "Purser" && !!label("description") && label("licenses") === "Apache-2.0",
  };
  return Object.entries(expected).flatMap(([what, isMet]) => (isMet ? [] : [`the image lacks ${what}`]));
}

type Image = { readonly tree: string; readonly config: ImageConfig };

async function runInside(image: Image, command: readonly string[], settings: Record<string, string> = {}) {
  return collectOutput(spawnInside(image, command, settings));
}

/** Checks that no file can be created, because the rest of the proof relies on a read-only tree. */
async function checkReadOnly(image: Image): Promise<string[]> {
  const script = `
    for (const folder of ["/purser", "/tmp", "/home/node", "/var"])
      try { require("node:fs").writeFileSync(folder + "/x", ""); console.log(folder, "written"); }
      catch ({ code }) { console.log(folder, code); }
    console.log("user", process.getuid());`;
  const { output } = await runInside(image, ["node", "-e", script]);
  const expected = ["/purser EROFS", "/tmp EROFS", "/home/node EROFS", "/var EROFS", "user 1000"].join("\n");
  return output.trim() === expected ? [] : [`the tree is not read-only, or the user is wrong:\n${output}`];
}

async function useImage(image: Image, stack: AsyncDisposableStack) {
  const { Entrypoint, Cmd, Healthcheck } = image.config;
  const server = await PostgresServer.start(stack, [], []);
  const { url: DATABASE_URL } = await server.createDatabase("purser");
  const faults: string[] = [];
  const migrated = await runInside(image, [...Entrypoint, "migrate"], { DATABASE_URL });
  if (migrated.code !== 0) throw new Error(`migrate ended with code ${migrated.code}: ${migrated.output}`);
  const project = await openProject(DATABASE_URL, CATALOG);

  const [port, metricsPort] = [await steadyPort(), await steadyPort()];
  const settings = { DATABASE_URL, PORT: String(port), METRICS_PORT: String(metricsPort) };
  const isHealthy = async () =>
    (await runInside(image, (Healthcheck?.Test ?? []).slice(1), settings)).code === 0;
  if (await isHealthy()) faults.push("the health check passes without a service");
  const startMs = performance.now();
  const child = spawnInside(image, [...Entrypoint, ...Cmd], settings);
  stack.defer(() => endProcess(child));
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => void log.push(String(chunk)));
  while (!log.join("").includes('"msg":"ready"')) {
    if (child.exitCode !== null || performance.now() - startMs > READY_WITHIN_MS)
      throw new Error(`the image did not serve: ${log.join("")}`);
    await pause(20);
  }
  const readySeconds = Math.round((performance.now() - startMs) / 100) / 10;

  const url = `http://127.0.0.1:${port}`;
  const caller = new Caller({ url }, project);
  const { allowed, creditsCharged } = await caller.consume("customer_1");
  if (!allowed || creditsCharged !== 10)
    faults.push(`the charge was not made: ${allowed}, ${creditsCharged}`);
  const paths = {
    "/": "<title>Purser</title>",
    "/docs/": "Purser documentation",
    "/docs/api/": "Purser API reference",
    "/docs/quick-start": "Quick start",
    "/docs/errors/not_found": "not_found",
  };
  for (const [path, part] of Object.entries(paths))
    if (!(await (await fetch(url + path)).text()).includes(part)) faults.push(`${path} is not served`);
  if (!(await isHealthy())) faults.push("the health check fails while the service runs");
  await endProcess(child);
  if (child.exitCode !== 0) faults.push(`SIGTERM ended it with code ${child.exitCode}: ${log.join("")}`);
  return { faults, readySeconds, charged: creditsCharged };
}
