import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { raiseDataFormat } from "../../service/src/postgres/migrate.ts";
import { DATA_FORMAT } from "../../service/src/postgres/own-backend.ts";
import type { grantToService } from "../../service/src/postgres/privileges.ts";
import { PREPAID_CATALOG } from "../faults/catalog.ts";
import { Client, type Target } from "../faults/client.ts";
import { type Call, History, type Span } from "../faults/history.ts";
import { isTrueWithin } from "../faults/inject.ts";
import { Load, retryUnknown } from "../faults/load.ts";
import type * as OperatorModule from "../faults/operator.ts";
import { Operator } from "../faults/operator.ts";
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
/** `purser migrate` fails if it waits too long for a lock. The operator then repeats the command. */
const FINISH_ATTEMPTS_MAX = 5;
const FINISH_PAUSE_MS = 1_000;

await runProof(
  {
    command: "npm run upgrade-proof",
    about: `Upgrades an installation of an earlier release under load. Two services of the earlier release run on one database. This tree
migrates the database and replaces one service, so that both releases serve together. Then that service is rolled back and upgraded
again, and the other one is replaced. \`purser migrate --finish\` ends the upgrade under load; from then on, requests have items. Checks that
no acknowledged request is lost or applied twice, that calls fail only at a service that is being replaced, that the data format
cannot be raised and items are rejected before the upgrade is finished, and that \`purser verify\` succeeds.`,
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
    const { report, unexplained, ended } = await upgrade({
      tree: old.directory,
      seconds,
      historyFile,
      stack,
    });
    console.log(describeReport(report));
    const faults = [
      ...unexplained
        .slice(0, 5)
        .map((call) => `failed although no service was being replaced: ${JSON.stringify(call)}`),
      ...(ended.code === 0 ? [] : [`purser migrate --finish: ${ended.output}`]),
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
  const { Operator: EarlierOperator } = await importFrom<typeof OperatorModule>(
    tree,
    "proof/faults/operator.ts",
  );
  const project = await openProject(ownerUrl, PREPAID_CATALOG);
  await grantTo(ownerUrl, tree);
  const history = new History(historyFile);
  const earlierOperator = new EarlierOperator(serviceUrl, project.context, history);
  const operator = new Operator(serviceUrl, project.context, history);
  await earlierOperator.createCustomers();

  const prepare = (name: string, from: string) => Service.prepare(serviceUrl, stack, { name, tree: from });
  const [oldA, oldB] = [await prepare("a-old", tree), await prepare("b-old", tree)];
  const [newA, newB] = [await prepare("a-new", THIS_TREE), await prepare("b-new", THIS_TREE)];
  const services = [oldA, oldB];
  const target = { services, secret: project.apiKey };
  const stops: Stop[] = [];
  await Promise.all([oldA.launch(), oldB.launch()]);
  // The earlier release does not support items, and the new release rejects them until the upgrade is finished.
  const load = new Load(target, history, { hasItems: false });
  stack.defer(() => load.stop());
  stack.defer(() => operator.stop());
  stack.defer(() => earlierOperator.stop());
  earlierOperator.start();

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
  await expectNoItems(target);
  await earlierOperator.stop();
  const { finished, ...ended } = await finishUpgrade(ownerUrl);
  load.traffic = { hasItems: true };
  operator.start();
  await pause(seconds * 1_000);
  await load.stop();
  await operator.stop();

  const { retried, unsettled } = await retryUnknown(target, history);
  for (const service of services)
    if (!(await service.stop())) throw new Error(`${service.name} did not stop: ${service.lastOutput}`);
  const stored = await readStored(ownerUrl);
  const verified = await startVerify(ownerUrl).ended;
  await history.close();
  const { calls, manageCalls } = history;
  const report = judgeRun({
    calls,
    manageCalls,
    finished,
    stored,
    mismatch: verified.code === 0 ? null : verified.output,
    restarts: [],
    outages: [],
    retried,
    death: null,
    doubts: unsettled > 0 ? [`${unsettled} retries got no definite outcome`] : [],
  });
  return { report, ended, unexplained: calls.filter((call) => isUnexplained(call, stops)) };
}

/** Before the upgrade is finished, a consume request with items is rejected, and nothing is stored for its key. */
async function expectNoItems(target: Target): Promise<void> {
  const client = new Client("early", target, new History("/dev/null"));
  const { outcome } = await client.send({
    ...{ endpoint: "consume", key: "key-early", marker: "early", customerId: "customer_hot" },
    items: [{ feature: "images.render", quantity: 1 }],
  });
  client.close();
  if (outcome.kind !== "fail" || outcome.code !== "upgrade_unfinished")
    throw new Error(`items were not rejected before the upgrade was finished: ${JSON.stringify(outcome)}`);
}

type Finish = { readonly finished: Span; readonly code: number | null; readonly output: string };

/** Finishes the upgrade under load, as an operator would. */
async function finishUpgrade(ownerUrl: string): Promise<Finish> {
  const startMs = performance.now();
  for (let attempt = 1; ; attempt++) {
    const ended = await runPurser(["migrate", "--finish"], ownerUrl);
    console.log(ended.output);
    if (ended.code === 0 || attempt === FINISH_ATTEMPTS_MAX)
      return { finished: { startMs, endMs: performance.now() }, ...ended };
    await pause(FINISH_PAUSE_MS);
  }
}

/** The time in which a service was removed from the load balancer and stopped. */
type Stop = { readonly service: string; readonly removedAtMs: number; readonly endedAtMs: number };

/** A call may fail only if it was open to a service while that service was removed and stopped. */
function isUnexplained({ outcome, service, startMs, endMs }: Call, stops: readonly Stop[]): boolean {
  if (outcome.kind !== "info") return false;
  return !stops.some(
    (stop) => stop.service === service && startMs <= stop.removedAtMs && endMs <= stop.endedAtMs,
  );
}

/** Imports from the other tree with this tree's types. Works only while both releases have the same harness API. */
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
