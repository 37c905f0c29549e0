import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProof } from "../harness/command.ts";
import { runFaults } from "./run-faults.ts";
import { describeReport, EXIT_CODE, summarize } from "./summary.ts";

/** Beyond this something hangs, and the run ends as unknown. A kill takes about 2 s, one of PostgreSQL about 4 s. */
const TIME_MAX_MS = { base: 120_000, serviceKill: 15_000, postgresKill: 45_000 };

await runProof(
  {
    command: "npm run faults",
    about: `Kills two services and their database under load, and checks that nothing acknowledged is lost or doubled, and that
every wallet is the sum of its ledger. Needs Linux. Exit code 0: pass, 1: fail, 2: unknown, when not everything could be looked at.
Unless it passes, the clients' history is kept; the first line names the file.`,
    options: {
      "service-kills": { default: 100, min: 0, help: "kill -9 of one of the two services, in turn" },
      "postgres-kills": { default: 30, min: 0, help: "kill -9 of PostgreSQL, postmaster and backends" },
    },
    exitCodeOnError: EXIT_CODE.unknown,
  },
  async ({ options: { "service-kills": serviceKills, "postgres-kills": postgresKills }, stack }) => {
    if (process.platform !== "linux")
      throw new Error("the faults need Linux: processes are found through /proc");
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
