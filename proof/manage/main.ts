import { runProof } from "../harness/command.ts";
import { awaitStatistics } from "../harness/database.ts";
import { count, ms, rounded } from "../harness/figures.ts";
import { makeBusyCustomer } from "../harness/fill-customers.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject } from "../harness/project.ts";
import { verify } from "../harness/purser.ts";
import { type ImportResult, importThroughAKill } from "./import-file.ts";
import { measureLogInStorm, type StormResult } from "./log-in-storm.ts";
import { type Measured, measurePages } from "./measure-pages.ts";

const BUSY_ENTRIES = 100_000;
const P95_MS_MAX = 100;
const TRANSACTION_MS_MAX = 5_000;
const SLOWDOWN_MAX = 1.5;
/** Smaller tables may be read as a whole. */
const WHOLE_TABLE_ROWS_MAX = 5_000;

await runProof(
  {
    command: "npm run manage-proof",
    about: `Imports customers from a file through the management API, kills the service in the middle with kill -9, sends the file
again, and checks every balance. Then times every list and search that there is, with the indexes that answer them, and
measures checks with and without a storm of wrong passwords beside them. Needs Linux. Fails when anything is amiss.`,
    options: {
      rows: { default: 100_000, help: "customers in the file" },
      calls: { default: 200, help: "calls of each list and search" },
      rounds: { default: 5, help: "turns of each side of the storm" },
      seconds: { default: 5, help: "length of each turn" },
      rate: { default: 300, help: "checks a second" },
    },
  },
  async ({ options: { rows, calls, rounds, seconds, rate }, stack }) => {
    const server = await PostgresServer.start(stack);
    const database = await server.createDatabase("purser");
    const project = await openProject(database.url);
    const { service, result: imported } = await importThroughAKill({ database, project, rows, stack });
    printImport(rows, imported);

    await makeBusyCustomer({ database, service, project }, BUSY_ENTRIES);
    await awaitStatistics(database, ["customers", "wallets", "grants", "assignments", "audit"]);
    const pages = { server, service, project, customers: rows, calls };
    const { measured, failures, left } = await measurePages(pages, printPage);
    console.log(`not measured, as they are about one thing: ${left.join(", ")}`);

    const storm = await measureLogInStorm({
      service,
      project,
      customers: rows,
      perSecond: rate,
      seconds,
      rounds,
    });
    printStorm(storm);
    console.log((await verify(database.url)).output);
    return {
      faults: [...failures, ...findFaults(imported, measured, storm)],
      figures: summarize(rows, imported, measured, storm),
    };
  },
);

function printImport(rows: number, result: ImportResult): void {
  const { dryRunSeconds, killedAfterRows, secondSeconds, repeatSeconds } = result;
  console.log(`${count(rows)} rows, dry run: ${dryRunSeconds.toFixed(1)} s, and nothing written`);
  console.log(`killed after ${count(killedAfterRows)} customers, and the file sent again:`);
  console.log(`  the other ${count(rows - killedAfterRows)} in ${secondSeconds.toFixed(1)} s`);
  console.log(`  once more, changing nothing, in ${repeatSeconds.toFixed(1)} s`);
  console.log("  every customer there, every balance right, no reference twice, and verify agrees");
  console.log(
    `  longest transaction seen ${ms(result.transactionMsMax)}, at most ${result.peakMegabytes.toFixed(0)} MB resident`,
  );
}

function printPage({ name, p50Ms, p95Ms, explained }: Measured): void {
  console.log(`${ms(p50Ms).padStart(9)} p50 ${ms(p95Ms).padStart(9)} p95  ${name}`);
  for (const statement of explained.statements) console.log(`${" ".repeat(30)}${statement}`);
}

function printStorm({ withoutP99Ms, besideP99Ms, answers }: StormResult): void {
  console.log(`checks without log-ins: p99 ${ms(withoutP99Ms)}`);
  console.log(`checks beside 50 who guess passwords at once: p99 ${ms(besideP99Ms)}`);
  console.log(`  they were answered with ${JSON.stringify(answers)}`);
}

function findFaults(
  imported: ImportResult,
  measured: readonly Measured[],
  { withoutP99Ms, besideP99Ms }: StormResult,
): string[] {
  const faults: string[] = [];
  if (imported.transactionMsMax > TRANSACTION_MS_MAX)
    faults.push(`a transaction of an import lasted ${ms(imported.transactionMsMax)}`);
  for (const { name, p95Ms, explained } of measured) {
    if (p95Ms > P95_MS_MAX) faults.push(`${name}: p95 ${ms(p95Ms)}, more than ${P95_MS_MAX} ms`);
    for (const { table, rows } of explained.wholeTables) {
      if (rows > WHOLE_TABLE_ROWS_MAX) faults.push(`${name}: reads all ${rows} rows of ${table}`);
    }
  }
  if (besideP99Ms > withoutP99Ms * SLOWDOWN_MAX)
    faults.push(`log-ins slow checks from ${ms(withoutP99Ms)} to ${ms(besideP99Ms)}`);
  return faults;
}

function summarize(
  rows: number,
  imported: ImportResult,
  measured: readonly Measured[],
  storm: StormResult,
): object {
  return {
    rows,
    dry_run_seconds: rounded(imported.dryRunSeconds),
    killed_after_rows: imported.killedAfterRows,
    rest_seconds: rounded(imported.secondSeconds),
    repeat_seconds: rounded(imported.repeatSeconds),
    transaction_ms_max: rounded(imported.transactionMsMax),
    peak_mb: rounded(imported.peakMegabytes),
    pages: Object.fromEntries(
      measured.map(({ name, p50Ms, p95Ms }) => [name, { p50_ms: rounded(p50Ms), p95_ms: rounded(p95Ms) }]),
    ),
    check_p99_ms: rounded(storm.withoutP99Ms),
    check_p99_beside_log_ins_ms: rounded(storm.besideP99Ms),
  };
}
