import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProof } from "../harness/command.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { killPostgres, killService } from "./inject.ts";
import { describeReport, EXIT_CODE, type FaultsReport, summarize } from "./report.ts";
import { judge, prepareDatabase, startRun } from "./run.ts";

/** A run that takes longer is considered hung, and its verdict is unknown. A service kill takes about 2 s, a PostgreSQL kill about 4 s. */
const TIME_MAX_MS = { base: 240_000, serviceKill: 15_000, postgresKill: 45_000 };

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
async function runFaults({ serviceKills, postgresKills, ...options }: FaultsOptions): Promise<FaultsReport> {
  const postgres = await PostgresServer.start(options.stack, [], []);
  const running = await startRun(await prepareDatabase((name, role) => postgres.url(name, role)), options);
  const { services, history } = running;
  console.log(`killing one of ${services.length} services ${serviceKills} times under load`);
  const restarts = await killService(services, history, serviceKills);
  console.log(`killing PostgreSQL ${postgresKills} times under load`);
  const outages = await killPostgres(postgres, services, history, postgresKills);
  const isComplete = restarts.length === serviceKills && outages.length === postgresKills;
  return judge(running, { restarts, outages, doubts: isComplete ? [] : ["not all faults were injected"] });
}
