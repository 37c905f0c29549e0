import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CleanUp } from "./machines/clean-up.ts";
import { runFaults } from "./run-faults.ts";
import { describeReport, EXIT_CODE, toJson } from "./summary.ts";

const HELP = `Kills two services and their database under load, and checks that nothing acknowledged is lost or doubled, and that
every wallet is the sum of its ledger.

Usage: node proof/faults/main.ts [options]      (Linux only)

  --service-kills N     kill -9 of one of the two services, in turn (100)
  --postgres-kills N    kill -9 of PostgreSQL, postmaster and backends (30)
  --json                end with one line of JSON

Exit code 0: pass, 1: fail, 2: unknown, when not everything could be looked at. Unless it passes, the clients'
history is kept, and the last lines say where.`;

/** Beyond this something hangs, and the run ends as unknown. A kill takes about 2 s, one of PostgreSQL about 4 s. */
const TIME_MAX_MS = { base: 120_000, serviceKill: 15_000, postgresKill: 45_000 };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      "service-kills": { type: "string", default: "100" },
      "postgres-kills": { type: "string", default: "30" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return console.log(HELP);
  if (process.platform !== "linux")
    throw new Error("the faults need Linux: processes are found through /proc");
  const serviceKills = readCount(values["service-kills"]);
  const postgresKills = readCount(values["postgres-kills"]);
  const historyFile = join(tmpdir(), `purser-faults-history-${process.pid}.jsonl`);
  const cleanUp = new CleanUp();
  cleanUp.addPath(historyFile);
  const endUnknown = (reason: unknown): never => {
    console.error(reason);
    cleanUp.keepPath(historyFile);
    console.log(`history kept in ${historyFile}\nverdict: unknown`);
    if (values.json) console.log(JSON.stringify({ verdict: "unknown", doubts: [String(reason)] }));
    process.exit(EXIT_CODE.unknown);
  };
  process.on("uncaughtException", endUnknown);
  const timeMaxMs =
    TIME_MAX_MS.base + serviceKills * TIME_MAX_MS.serviceKill + postgresKills * TIME_MAX_MS.postgresKill;
  setTimeout(() => endUnknown(new Error(`not done after ${timeMaxMs / 1_000} s`)), timeMaxMs).unref();

  const say = (line: string): void => console.log(line);
  const report = await runFaults({ serviceKills, postgresKills, historyFile, cleanUp, say }).catch(
    endUnknown,
  );
  say(describeReport(report));
  if (report.verdict !== "pass") {
    cleanUp.keepPath(historyFile);
    say(`history kept in ${historyFile}`);
  }
  if (values.json) say(toJson(report));
  process.exit(EXIT_CODE[report.verdict]);
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new Error(`not a number of kills: ${text}`);
  return count;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(EXIT_CODE.unknown);
});
