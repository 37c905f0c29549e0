import { PostgresServer } from "../harness/postgres.ts";
import { Service, startVerify } from "../harness/purser.ts";
import { History } from "./history/history.ts";
import { isTrueWithin } from "./inject/is-true-within.ts";
import { killPostgres } from "./inject/kill-postgres.ts";
import { killService } from "./inject/kill-service.ts";
import { type FaultsReport, judgeRun } from "./judge-run.ts";
import { Load } from "./load/load.ts";
import { settleUnknown } from "./load/settle-unknown.ts";
import { prepareDatabase } from "./machines/prepare-database.ts";
import { readStored } from "./machines/read-stored.ts";
import { Operator } from "./operator/operator.ts";

export type FaultsOptions = {
  readonly serviceKills: number;
  readonly postgresKills: number;
  readonly historyFile: string;
  readonly stack: AsyncDisposableStack;
};

/** Two, so that the same rows are wanted by processes that know nothing of each other. */
const SERVICES = ["a", "b"];
const FIRST_ANSWER_WITHIN_MS = 30_000;

/** The whole run: load, faults, healing, and the judgement. Throws when it cannot be carried out. */
export async function runFaults(options: FaultsOptions): Promise<FaultsReport> {
  const { stack } = options;
  const doubts: string[] = [];
  const postgres = await PostgresServer.start(stack, [], []);
  const installation = await prepareDatabase(postgres);
  const history = new History(options.historyFile);
  const operator = new Operator(installation, history);
  await operator.settle();

  const services = await Promise.all(
    SERVICES.map((name) => Service.prepare(installation.serviceUrl, stack, { name, logLevel: "error" })),
  );
  // When they are ready, their answers show.
  for (const service of services) service.launch().catch(() => {});
  const target = { services, secret: installation.project.apiKey };
  const load = new Load(target, history);
  const areUp = (): boolean => services.every(({ name }) => history.hasOkSince(0, name));
  if (!(await isTrueWithin(FIRST_ANSWER_WITHIN_MS, areUp)))
    throw new Error(`a service did not come to answer:\n${lastWordsOf(services)}`);
  operator.start();
  console.log(`killing one of ${services.length} services ${options.serviceKills} times under load`);
  const restarts = await killService(services, history, options.serviceKills);
  console.log(`killing PostgreSQL ${options.postgresKills} times under load`);
  const outages = await killPostgres(postgres, services, history, options.postgresKills);
  await load.stop();
  await operator.stop();
  if (restarts.length < options.serviceKills || outages.length < options.postgresKills)
    doubts.push("not all faults were injected");

  console.log("healed: retrying half of what is not definite, and reading the database");
  let retried = 0;
  const dead = services.filter(({ isAlive }) => !isAlive);
  if (dead.length === 0) {
    const settled = await settleUnknown(target, history);
    retried = settled.retried;
    if (settled.unsettled > 0) doubts.push(`${settled.unsettled} retries came to nothing definite`);
  }
  for (const service of services) {
    if (service.isAlive && !(await service.stop()))
      doubts.push(`service ${service.name} did not stop when it was asked to`);
  }
  const stored = await readStored(installation.ownerUrl).catch((error: Error) => {
    doubts.push(`reading failed: ${error.message}`);
    return null;
  });
  const verified = await startVerify(installation.ownerUrl).ended;
  if (verified.code !== 0 && verified.code !== 1) doubts.push(`purser verify failed: ${verified.output}`);
  await history.close();
  if (history.openCalls > 0) doubts.push(`${history.openCalls} calls have no end`);
  const { calls, manageCalls } = history;
  const death = dead.length === 0 ? null : lastWordsOf(dead);
  const mismatch = verified.code === 1 ? verified.output : null;
  return judgeRun({ calls, manageCalls, stored, mismatch, restarts, outages, retried, death, doubts });
}

function lastWordsOf(services: readonly Service[]): string {
  return services.map(({ name, lastWords }) => `${name}: ${lastWords}`).join("\n");
}
