import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "../../service/src/manage/keys/create-api-key.ts";
import { grantToService } from "../../service/src/postgres/privileges.ts";
import { transaction } from "../../service/src/postgres/transaction.ts";
import { SCOPES } from "../../service/src/store/control/api-keys.ts";
import { runProof } from "../harness/command.ts";
import { withClient, withPool } from "../harness/database.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject, type Project } from "../harness/project.ts";
import { Service, startVerify } from "../harness/purser.ts";
import { CATALOG } from "./catalog.ts";
import { History } from "./history.ts";
import { isTrueWithin, killPostgres, killService } from "./inject.ts";
import { endHolds, Load, retryUnknown } from "./load.ts";
import { Operator } from "./operator.ts";
import { readStored } from "./read-stored.ts";
import { describeReport, EXIT_CODE, type FaultsReport, judgeRun, summarize } from "./report.ts";

/** A run that takes longer is considered hung, and its verdict is unknown. A service kill takes about 2 s, a PostgreSQL kill about 4 s. */
const TIME_MAX_MS = { base: 240_000, serviceKill: 15_000, postgresKill: 45_000 };
/** Two, so that independent processes contend for the same rows. */
const SERVICES = ["a", "b"];
const FIRST_ANSWER_WITHIN_MS = 30_000;
const SERVICE_ROLE = "purser_service";

await runProof(
  {
    command: "npm run faults",
    about: `Kills two services and their database under load. Checks that no acknowledged request is lost or applied twice, that
every wallet is the sum of its ledger, that every hold ends once, that no customer has more overage than the plan allows, and that no
charge is reversed twice. Waits a minute for abandoned holds. Needs Linux.
Exit code 0: pass; 1: fail; 2: unknown, because something could not be checked.
The clients' history is kept unless the run passes; the first line names the file.`,
    options: {
      "service-kills": { default: 100, min: 0, help: "kill -9 of one of the two services, in turn" },
      "postgres-kills": { default: 30, min: 0, help: "kill -9 of PostgreSQL, postmaster and backends" },
    },
    exitCodeOnError: EXIT_CODE.unknown,
  },
  async ({ options: { "service-kills": serviceKills, "postgres-kills": postgresKills }, stack }) => {
    if (process.platform !== "linux")
      throw new Error("the faults proof needs Linux: it finds processes through /proc");
    const historyFile = join(tmpdir(), `purser-faults-history-${process.pid}.jsonl`);
    console.log(`history: ${historyFile}`);
    const timeMaxMs =
      TIME_MAX_MS.base + serviceKills * TIME_MAX_MS.serviceKill + postgresKills * TIME_MAX_MS.postgresKill;
    const late = Promise.withResolvers<never>();
    setTimeout(() => late.reject(new Error(`not done after ${timeMaxMs / 1_000} s`)), timeMaxMs).unref();
    try {
      const run = runFaults({ serviceKills, postgresKills, historyFile, stack });
      const report = await Promise.race([run, late.promise]);
      console.log(describeReport(report));
      if (report.verdict === "pass") await rm(historyFile);
      return { figures: summarize(report), exitCode: EXIT_CODE[report.verdict] };
    } catch (error) {
      console.error(error);
      console.log("verdict: unknown");
      return { figures: { verdict: "unknown", doubts: [String(error)] }, exitCode: EXIT_CODE.unknown };
    }
  },
);

type FaultsOptions = {
  readonly serviceKills: number;
  readonly postgresKills: number;
  readonly historyFile: string;
  readonly stack: AsyncDisposableStack;
};

/** Load, faults, recovery and the verdict. Throws if the run cannot be completed. */
async function runFaults(options: FaultsOptions): Promise<FaultsReport> {
  const { stack } = options;
  const doubts: string[] = [];
  const postgres = await PostgresServer.start(stack, [], []);
  const { ownerUrl, serviceUrl, project, secret } = await prepareDatabase(postgres);
  const history = new History(options.historyFile);
  const operator = new Operator(serviceUrl, project.context, history);
  await operator.createCustomers();

  const services = await Promise.all(
    SERVICES.map((name) => Service.prepare(serviceUrl, stack, { name, logLevel: "error" })),
  );
  // The services' responses show when they are ready.
  for (const service of services) service.launch().catch(() => {});
  const target = { services, secret };
  const load = new Load(target, history, { hasItems: true, hasHolds: true, hasReversals: true });
  // Stopped even if the run fails, because open loops would keep the process running.
  stack.defer(() => load.stop());
  stack.defer(() => operator.stop());
  const areUp = (): boolean => services.every(({ name }) => history.hasOkSince(0, name));
  if (!(await isTrueWithin(FIRST_ANSWER_WITHIN_MS, areUp)))
    throw new Error(`a service did not respond:\n${describeEnds(services)}`);
  operator.start();
  console.log(`killing one of ${services.length} services ${options.serviceKills} times under load`);
  const restarts = await killService(services, history, options.serviceKills);
  console.log(`killing PostgreSQL ${options.postgresKills} times under load`);
  const outages = await killPostgres(postgres, services, history, options.postgresKills);
  await load.stop();
  await operator.stop();
  if (restarts.length < options.serviceKills || outages.length < options.postgresKills)
    doubts.push("not all faults were injected");

  console.log("retrying half of the requests without a definite outcome, and reading the database");
  const dead = services.filter(({ isAlive }) => !isAlive);
  const { retried, unsettled } =
    dead.length > 0 ? { retried: 0, unsettled: 0 } : await retryUnknown(target, history);
  if (unsettled > 0) doubts.push(`${unsettled} retries got no definite outcome`);
  console.log("waiting until abandoned holds have ended");
  const undecided = dead.length > 0 ? 0 : await endHolds(target, history, load);
  if (undecided > 0) doubts.push(`${undecided} requests after the end of holds got no definite outcome`);
  for (const service of services) {
    if (service.isAlive && !(await service.stop()))
      doubts.push(`service ${service.name} did not stop on SIGTERM`);
  }
  const stored = await readStored(ownerUrl).catch((error: Error) => {
    doubts.push(`reading failed: ${error.message}`);
    return null;
  });
  const verified = await startVerify(ownerUrl).ended;
  if (verified.code !== 0 && verified.code !== 1) doubts.push(`purser verify failed: ${verified.output}`);
  await history.close();
  if (history.openCalls > 0) doubts.push(`${history.openCalls} calls have not ended`);
  const { calls, manageCalls } = history;
  const death = dead.length === 0 ? null : describeEnds(dead);
  const mismatch = verified.code === 1 ? verified.output : null;
  return judgeRun({ calls, manageCalls, stored, mismatch, restarts, outages, retried, death, doubts });
}

type Prepared = {
  readonly ownerUrl: string;
  readonly serviceUrl: string;
  readonly project: Project;
  /** The secret of an API key with all scopes. The project's first key cannot reverse charges. */
  readonly secret: string;
};

/** The service connects with a restricted role, which cannot rewrite history. */
async function prepareDatabase(postgres: PostgresServer): Promise<Prepared> {
  await postgres.query("postgres", `create role ${SERVICE_ROLE} login`);
  const { name, url: ownerUrl } = await postgres.createDatabase("purser");
  const project = await openProject(ownerUrl, CATALOG);
  await withClient(ownerUrl, (client) => grantToService(client, SERVICE_ROLE, { endsKeys: false }));
  const { projectId, environmentId, actor: createdBy } = project.context;
  const key = { projectId, environmentId, kind: "live", name: "Faults", scopes: SCOPES, createdBy } as const;
  const { secret } = await withPool(ownerUrl, (pool) => transaction(pool, (tx) => createApiKey(tx, key)));
  return { ownerUrl, serviceUrl: postgres.url(name, SERVICE_ROLE), project, secret };
}

function describeEnds(services: readonly Service[]): string {
  return services.map(({ name, lastOutput }) => `${name}: ${lastOutput}`).join("\n");
}
