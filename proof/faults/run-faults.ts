import { History } from "./history/history.ts";
import { killPostgres } from "./inject/kill-postgres.ts";
import { killService } from "./inject/kill-service.ts";
import { type FaultsReport, judgeRun } from "./judge-run.ts";
import { Load } from "./load/load.ts";
import { settleUnknown } from "./load/settle-unknown.ts";
import type { CleanUp } from "./machines/clean-up.ts";
import { PostgresServer } from "./machines/postgres-server.ts";
import { prepareDatabase } from "./machines/prepare-database.ts";
import { readStored } from "./machines/read-stored.ts";
import { ServiceProcess } from "./machines/service-process.ts";
import { steadyPort } from "./machines/steady-port.ts";
import { isTrueWithin } from "./pause.ts";

export type FaultsOptions = {
  readonly serviceKills: number;
  readonly postgresKills: number;
  readonly historyFile: string;
  readonly cleanUp: CleanUp;
  readonly say: (line: string) => void;
};

const FIRST_ANSWER_WITHIN_MS = 30_000;

/** The whole run: load, faults, healing, and the judgement. Throws when it cannot be carried out. */
export async function runFaults(options: FaultsOptions): Promise<FaultsReport> {
  const { cleanUp, say } = options;
  const doubts: string[] = [];
  const postgres = await PostgresServer.create(cleanUp);
  await postgres.start();
  const { ownerUrl, serviceUrl, secret } = await prepareDatabase(postgres);
  const target = { port: await steadyPort(), secret };
  const service = new ServiceProcess({
    databaseUrl: serviceUrl,
    port: target.port,
    metricsPort: await steadyPort(),
  });
  service.start();

  const history = new History(options.historyFile);
  const load = new Load(target, history);
  if (!(await isTrueWithin(FIRST_ANSWER_WITHIN_MS, () => history.hasOkStartedSince(0))))
    throw new Error(`the service did not come to answer:\n${service.lastWords}`);
  say(`killing the service ${options.serviceKills} times under load`);
  const restarts = await killService(service, history, options.serviceKills);
  say(`killing PostgreSQL ${options.postgresKills} times under load`);
  const outages = await killPostgres(postgres, service, history, options.postgresKills);
  await load.stop();
  if (restarts.length < options.serviceKills || outages.length < options.postgresKills)
    doubts.push("not all faults were injected");

  say("healed: retrying half of what is not definite, and reading the database");
  let retried = 0;
  let death: string | null = null;
  if (service.isAlive) {
    const settled = await settleUnknown(target, history);
    retried = settled.retried;
    if (settled.unsettled > 0) doubts.push(`${settled.unsettled} retries came to nothing definite`);
    if (!(await service.stop())) doubts.push("the service did not stop when it was asked to");
  } else death = service.lastWords;
  const stored = await readStored(ownerUrl).catch((error: Error) => {
    doubts.push(`reading failed: ${error.message}`);
    return null;
  });
  await history.close();
  if (history.openCalls > 0) doubts.push(`${history.openCalls} calls have no end`);
  return judgeRun({ calls: history.calls, stored, restarts, outages, retried, death, doubts });
}
