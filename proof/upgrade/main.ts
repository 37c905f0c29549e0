import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { raiseDataFormat } from "../../service/src/postgres/migrate.ts";
import { DATA_FORMAT } from "../../service/src/postgres/own-backend.ts";
import type { grantToService } from "../../service/src/postgres/privileges.ts";
import { CATALOG } from "../faults/catalog.ts";
import { type Call, History } from "../faults/history.ts";
import { isTrueWithin } from "../faults/inject.ts";
import { Load, retryUnknown } from "../faults/load.ts";
import type * as OperatorModule from "../faults/operator.ts";
import { readStored } from "../faults/read-stored.ts";
import { describeReport, EXIT_CODE, judgeRun, summarize } from "../faults/report.ts";
import { runProof } from "../harness/command.ts";
import { withClient } from "../harness/database.ts";
import { checkOut } from "../harness/other-tree.ts";
import { PostgresServer } from "../harness/postgres.ts";
import type * as ProjectModule from "../harness/project.ts";
import { runPurser, Service, startVerify, THIS_TREE } from "../harness/purser.ts";

const SERVICE_ROLE = "purser_service";
const READY_WITHIN_MS = 60_000;

await runProof(
  {
    command: "npm run upgrade-proof",
    about: `Upgrades an installation of an earlier release under load. Two services of the earlier release run on one database. This tree
migrates the database and replaces one service, so that both releases serve together. Then that service is rolled back and upgraded
again, and the other one is replaced. Checks that no acknowledged request is lost or applied twice, that only calls to a service that
was being replaced failed, that the data format cannot be raised too early, and that \`purser verify\` and \`purser migrate --finish\` succeed.`,
    options: {
      from: {
        default: null,
        takes: "COMMIT",
        help: "the earlier release; default: the last one in releases.json",
      },
      seconds: { default: 10, help: "load in each phase" },
    },
    exitCodeOnError: EXIT_CODE.unknown,
  },
  async ({ options: { from, seconds }, stack }) => {
    const commit = from ?? (await findLastRelease());
    if (commit === null) {
      console.log("there is no earlier release");
      return { figures: { verdict: "none" } };
    }
    const historyFile = join(tmpdir(), `purser-upgrade-history-${process.pid}.jsonl`);
    const old = await checkOut(commit, stack);
    console.log(`upgrading from ${old.commit.slice(0, 12)}; history: ${historyFile}`);
    const { report, unexplained, finished } = await upgrade({
      tree: old.directory,
      seconds,
      historyFile,
      stack,
    });
    console.log(describeReport(report));
    const faults = [
      ...unexplained.slice(0, 5).map((call) => `failed for no reason: ${JSON.stringify(call)}`),
      ...(finished.code === 0 ? [] : [`purser migrate --finish: ${finished.output}`]),
    ];
    const hasPassed = report.verdict === "pass" && faults.length === 0;
    if (hasPassed) await rm(historyFile);
    return {
      faults,
      figures: { ...summarize(report), unexplained: unexplained.length, from: old.commit },
      exitCode: hasPassed ? 0 : EXIT_CODE[report.verdict] || 1,
    };
  },
);

/** The commit of the newest release. */
async function findLastRelease(): Promise<string | null> {
  const releases: Record<string, string> = JSON.parse(
    await readFile(join(THIS_TREE, "releases.json"), "utf8"),
  );
  return Object.values(releases).at(-1) ?? null;
}

type UpgradeOptions = {
  /** The earlier release's source tree. */
  readonly tree: string;
  readonly seconds: number;
  readonly historyFile: string;
  readonly stack: AsyncDisposableStack;
};

async function upgrade({ tree, seconds, historyFile, stack }: UpgradeOptions) {
  const server = await PostgresServer.start(stack, [], []);
  await server.query("postgres", `create role ${SERVICE_ROLE} login`);
  const { name: database, url: ownerUrl } = await server.createDatabase("purser");
  const serviceUrl = server.url(database, SERVICE_ROLE);
  // The earlier release's own code migrates, creates the project, and acts as the operator.
  const { openProject } = await importFrom<typeof ProjectModule>(tree, "proof/harness/project.ts");
  const { Operator } = await importFrom<typeof OperatorModule>(tree, "proof/faults/operator.ts");
  const project = await openProject(ownerUrl, CATALOG);
  await grantTo(ownerUrl, tree);
  const history = new History(historyFile);
  const operator = new Operator(serviceUrl, project.context, history);
  await operator.createCustomers();

  const prepare = (name: string, from: string) => Service.prepare(serviceUrl, stack, { name, tree: from });
  const [oldA, oldB] = [await prepare("a-old", tree), await prepare("b-old", tree)];
  const [newA, newB] = [await prepare("a-new", THIS_TREE), await prepare("b-new", THIS_TREE)];
  const services = [oldA, oldB];
  const target = { services, secret: project.apiKey };
  const stops: Stop[] = [];
  await Promise.all([oldA.launch(), oldB.launch()]);
  const load = new Load(target, history);
  stack.defer(() => load.stop());
  stack.defer(() => operator.stop());
  operator.start();

  /** Starts one service, adds it to the load balancer, then removes and stops another. */
  const replace = async (gone: Service, added: Service): Promise<void> => {
    const startedAtMs = performance.now();
    await added.launch();
    services.push(added);
    const removedAtMs = performance.now();
    services.splice(services.indexOf(gone), 1);
    const isServing = () => history.hasOkSince(startedAtMs, added.name);
    if (!(await isTrueWithin(READY_WITHIN_MS, isServing))) throw new Error(added.lastOutput);
    if (!(await gone.stop())) throw new Error(`${gone.name} did not stop: ${gone.lastOutput}`);
    stops.push({ service: gone.name, removedAtMs, endedAtMs: performance.now() });
    console.log(`${added.name} replaced ${gone.name}`);
    await pause(seconds * 1_000);
  };

  await pause(seconds * 1_000);
  const check = await runPurser(["migrate", "--check"], ownerUrl);
  console.log(check.output);
  if (!/^nothing to do|\.sql$/m.test(check.output)) throw new Error("purser migrate --check failed");
  await mustRun(["migrate", "--grant-to", SERVICE_ROLE], ownerUrl);
  await pause(seconds * 1_000);
  await replace(oldA, newA);
  // No running process can read the next data format, so raising it must be rejected.
  const early = await withClient(ownerUrl, (client) => raiseDataFormat(client, DATA_FORMAT + 1));
  if (early.kind !== "older_processes") throw new Error(`the data format was ${early.kind} too early`);
  await replace(newA, oldA);
  await replace(oldA, newA);
  await replace(oldB, newB);
  await load.stop();
  await operator.stop();

  const { retried, unsettled } = await retryUnknown(target, history);
  for (const service of services)
    if (!(await service.stop())) throw new Error(`${service.name} did not stop: ${service.lastOutput}`);
  const finished = await runPurser(["migrate", "--finish"], ownerUrl);
  const stored = await readStored(ownerUrl);
  const verified = await startVerify(ownerUrl).ended;
  await history.close();
  const { calls, manageCalls } = history;
  const report = judgeRun({
    calls,
    manageCalls,
    stored,
    mismatch: verified.code === 0 ? null : verified.output,
    restarts: [],
    outages: [],
    retried,
    death: null,
    doubts: unsettled > 0 ? [`${unsettled} retries got no definite outcome`] : [],
  });
  return { report, finished, unexplained: calls.filter((call) => isUnexplained(call, stops)) };
}

/** A service was removed from the load balancer and stopped. */
type Stop = { readonly service: string; readonly removedAtMs: number; readonly endedAtMs: number };

/** A call may fail only if it was open to a service while that service was removed and stopped. */
function isUnexplained({ outcome, service, startMs, endMs }: Call, stops: readonly Stop[]): boolean {
  if (outcome.kind !== "info") return false;
  return !stops.some(
    (stop) => stop.service === service && startMs <= stop.removedAtMs && endMs <= stop.endedAtMs,
  );
}

/** Typed as this tree's module: a release whose harness differs in what is used here needs its own proof. */
function importFrom<Module>(tree: string, path: string): Promise<Module> {
  return import(join(tree, path));
}

async function grantTo(url: string, tree: string): Promise<void> {
  const path = "service/src/postgres/privileges.ts";
  const privileges = await importFrom<{ grantToService: typeof grantToService }>(tree, path);
  await withClient(url, (client) => privileges.grantToService(client, SERVICE_ROLE, { endsKeys: false }));
}

async function mustRun(args: readonly string[], databaseUrl: string): Promise<void> {
  const { code, output } = await runPurser(args, databaseUrl);
  console.log(output);
  if (code !== 0) throw new Error(`purser ${args.join(" ")} ended with ${code}`);
}
