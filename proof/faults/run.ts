import { createApiKey } from "../../service/src/manage/keys/create-api-key.ts";
import { grantToService } from "../../service/src/postgres/privileges.ts";
import { transaction } from "../../service/src/postgres/transaction.ts";
import { SCOPES } from "../../service/src/store/control/api-keys.ts";
import { databaseAt, withClient, withPool } from "../harness/database.ts";
import { openProject, type Project } from "../harness/project.ts";
import { Service, startVerify } from "../harness/purser.ts";
import { CATALOG } from "./catalog.ts";
import type { Target } from "./client.ts";
import { History } from "./history.ts";
import { isTrueWithin, type Outage, type Restart } from "./inject.ts";
import { endHolds, Load, type Pace, replaySome, retryUnknown } from "./load.ts";
import { Operator } from "./operator.ts";
import { readStored } from "./read-stored.ts";
import { type FaultsReport, judgeRun } from "./report.ts";

/** Two services, so that independent processes contend for the same rows. */
const SERVICES = ["a", "b"];
const FIRST_ANSWER_WITHIN_MS = 30_000;
const SERVICE_ROLE = "purser_service";

type Prepared = {
  readonly ownerUrl: string;
  readonly serviceUrl: string;
  readonly project: Project;
  /** The secret of an API key with all scopes. The project's first key cannot reverse charges. */
  readonly secret: string;
};

/** The service connects with a restricted role, which cannot rewrite history. */
export async function prepareDatabase(urlOf: (database: string, role?: string) => string): Promise<Prepared> {
  const server = databaseAt(urlOf("postgres"));
  await server.query(`create role ${SERVICE_ROLE} login`);
  await server.query("create database purser");
  const ownerUrl = urlOf("purser");
  const project = await openProject(ownerUrl, CATALOG);
  await withClient(ownerUrl, (client) => grantToService(client, SERVICE_ROLE, { endsKeys: false }));
  const { projectId, environmentId, actor: createdBy } = project.context;
  const key = { projectId, environmentId, kind: "live", name: "Faults", scopes: SCOPES, createdBy } as const;
  const { secret } = await withPool(ownerUrl, (pool) => transaction(pool, (tx) => createApiKey(tx, key)));
  return { ownerUrl, serviceUrl: urlOf("purser", SERVICE_ROLE), project, secret };
}

/** Two services under load from clients and an operator. */
export type Running = {
  readonly ownerUrl: string;
  readonly services: readonly Service[];
  readonly target: Target;
  readonly history: History;
  readonly load: Load;
  readonly operator: Operator;
};

/** Returns when both services respond. */
export async function startRun(
  { ownerUrl, serviceUrl, project, secret }: Prepared,
  {
    historyFile,
    stack,
    pace,
    timeoutMs,
  }: {
    readonly historyFile: string;
    readonly stack: AsyncDisposableStack;
    readonly pace?: Pace;
    readonly timeoutMs?: number;
  },
): Promise<Running> {
  const history = new History(historyFile);
  const operator = new Operator(serviceUrl, project.context, history);
  await operator.createCustomers();
  const services = await Promise.all(
    SERVICES.map((name) => Service.prepare(serviceUrl, stack, { name, logLevel: "error" })),
  );
  // `areUp` below waits until the services respond.
  for (const service of services) service.launch().catch(() => {});
  const target = { services, secret, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const traffic = { hasItems: true, hasHolds: true, hasReversals: true };
  const load = new Load(target, history, traffic, pace);
  // Stopped even if the run fails, because open loops would keep the process running.
  stack.defer(() => load.stop());
  stack.defer(() => operator.stop());
  const areUp = (): boolean => services.every(({ name }) => history.hasOkSince(0, name));
  if (!(await isTrueWithin(FIRST_ANSWER_WITHIN_MS, areUp)))
    throw new Error(`a service did not respond:\n${describeEnds(services)}`);
  operator.start();
  return { ownerUrl, services, target, history, load, operator };
}

/** After the last fault: ends the load, reads the database and judges the run. `replays` is the number of requests to send again. */
export async function judge(
  { ownerUrl, services, target, history, load, operator }: Running,
  {
    restarts = [],
    outages = [],
    replays = 0,
    doubts = [],
  }: {
    readonly restarts?: readonly Restart[];
    readonly outages?: readonly Outage[];
    readonly replays?: number;
    readonly doubts?: string[];
  },
): Promise<FaultsReport> {
  await load.stop();
  await operator.stop();
  console.log("retrying half of the requests without a definite outcome, and reading the database");
  const dead = services.filter(({ isAlive }) => !isAlive);
  const { retried, unsettled } =
    dead.length > 0 ? { retried: 0, unsettled: 0 } : await retryUnknown(target, history);
  if (unsettled > 0) doubts.push(`${unsettled} retries got no definite outcome`);
  const missing = dead.length > 0 ? 0 : await replaySome(target, history, replays);
  if (missing > 0) doubts.push(`${missing} repeated requests got no definite outcome`);
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

function describeEnds(services: readonly Service[]): string {
  return services.map(({ name, lastOutput }) => `${name}: ${lastOutput}`).join("\n");
}
