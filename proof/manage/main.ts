import { runProof } from "../harness/command.ts";
import { awaitStatistics } from "../harness/database.ts";
import { count, findExceeded, megabytes, ms, rounded } from "../harness/figures.ts";
import { makeBusyCustomer } from "../harness/fill-customers.ts";
import { openInstallation } from "../harness/project.ts";
import { verify } from "../harness/purser.ts";
import { type ImportResult, importThroughAKill } from "./import-file.ts";
import { measureLogInStorm, type StormResult } from "./log-in-storm.ts";
import { type Measured, measurePages } from "./measure-pages.ts";

const BUSY_ENTRIES = 1_000_000;
const P95_MS_MAX = 100;
const TRANSACTION_MS_MAX = 5_000;
/**
 * The same limit as in the abuse proof, which sends other load without credentials. Passwords are checked one at a time, but each
 * check uses one of two cores for 30 ms or more.
 */
const SLOWDOWN_MAX = 3;
/** Smaller tables may be read by a sequential scan. */
const WHOLE_TABLE_ROWS_MAX = 5_000;

await runProof(
  {
    command: "npm run manage-proof",
    about: `Imports customers from a file through the management API, kills the service with kill -9 during the import, imports the file
again, and checks every balance. Then times every list and search, shows the indexes they use, and measures checks with and without
many concurrent logins with wrong passwords. Needs Linux.`,
    options: {
      rows: { default: 100_000, help: "customers in the file" },
      calls: { default: 200, help: "calls to each list and search" },
      rounds: { default: 5, help: "measurements with and without logins" },
      seconds: { default: 5, help: "length of each measurement" },
      rate: { default: 300, help: "checks per second" },
    },
  },
  async ({ options: { rows, calls, rounds, seconds, rate }, stack }) => {
    const installation = await openInstallation(stack);
    const { server, database, project } = installation;
    const { service, result: imported } = await importThroughAKill({ database, project, rows, stack });
    printImport(rows, imported);

    await makeBusyCustomer({ ...installation, service }, BUSY_ENTRIES);
    await awaitStatistics(database, ["customers", "wallets", "grants", "assignments", "audit"]);
    const pages = { server, service, project, customers: rows, calls };
    const { measured, failures, left } = await measurePages(pages, printPage);
    console.log(`not measured (need an ID, or are exports): ${left.join(", ")}`);

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
  console.log(`${count(rows)} rows, dry run: ${dryRunSeconds.toFixed(1)} s, nothing written`);
  console.log(`killed after ${count(killedAfterRows)} customers, then imported again:`);
  console.log(`  the remaining ${count(rows - killedAfterRows)} in ${secondSeconds.toFixed(1)} s`);
  console.log(`  a third time, without changes, in ${repeatSeconds.toFixed(1)} s`);
  console.log("  all customers exist, all balances are right, no reference is repeated, and verify succeeds");
  console.log(
    `  longest transaction ${ms(result.transactionMsMax)}, peak memory ${megabytes(result.peakMegabytes)}`,
  );
}

function printPage({ name, p50Ms, p95Ms, explained }: Measured): void {
  console.log(`${ms(p50Ms).padStart(9)} p50 ${ms(p95Ms).padStart(9)} p95  ${name}`);
  for (const statement of explained.statements) console.log(`${" ".repeat(30)}${statement}`);
}

function printStorm({ withoutP99Ms, besideP99Ms, answers }: StormResult): void {
  console.log(`checks without logins: p99 ${ms(withoutP99Ms)}`);
  console.log(`checks during 50 concurrent logins with wrong passwords: p99 ${ms(besideP99Ms)}`);
  console.log(`  responses to the logins: ${JSON.stringify(answers)}`);
}

function findFaults(
  imported: ImportResult,
  measured: readonly Measured[],
  { withoutP99Ms, besideP99Ms }: StormResult,
): string[] {
  return [
    ...findExceeded([
      ["longest transaction in the import", imported.transactionMsMax, TRANSACTION_MS_MAX, ms],
      ...measured.map(
        ({ name, p95Ms, page }) => [`${name}: p95`, p95Ms, page.p95MsMax ?? P95_MS_MAX, ms] as const,
      ),
      ["checks during logins: p99", besideP99Ms, withoutP99Ms * SLOWDOWN_MAX, ms],
    ]),
    ...measured.flatMap(({ name, explained, page }) =>
      explained.wholeTables
        .filter(({ rows }) => rows > WHOLE_TABLE_ROWS_MAX && page.readsAll !== true)
        .map(({ table, rows }) => `${name}: reads all ${rows} rows of ${table}`),
    ),
  ];
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
