import { parseArgs } from "node:util";
import { ms, rounded } from "../bench/figures.ts";
import { verify } from "../verify/run-verify.ts";
import { makeBusyCustomer } from "./busy-customer.ts";
import { type ImportResult, importThroughAKill } from "./import-through-a-kill.ts";
import { measureLogInStorm, type StormResult } from "./log-in-storm.ts";
import { type Measured, measurePages } from "./measure-pages.ts";
import { awaitStatistics, openProofServer } from "./server.ts";
import { openShop } from "./shop.ts";

const HELP = `npm run manage-proof -- [options]

Imports customers from a file through the management API, kills the service in the middle with kill -9, sends the file
again, and checks every balance. Then times every list and search that there is, with the indexes that answer them, and
measures checks with and without a storm of wrong passwords beside them. Needs Linux. Fails when anything is amiss.

  --rows N     customers in the file (100000)
  --calls N    calls of each list and search (200)
  --rounds N   turns of each side of the storm (5)
  --seconds N  length of each turn (5)
  --rate N     checks a second (300)
  --json       the last line is JSON
`;

const P95_MS_MAX = 100;
const TRANSACTION_MS_MAX = 5_000;
const SLOWDOWN_MAX = 1.5;
/** Smaller tables may be read as a whole. */
const WHOLE_TABLE_ROWS_MAX = 5_000;

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    calls: { type: "string", default: "200" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    rate: { type: "string", default: "300" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const rows = readCount("rows");
  const server = await openProofServer(stack);
  const shop = await openShop(server);
  const { service, result: imported } = await importThroughAKill({ server, shop, rows, stack });
  printImport(rows, imported);

  await makeBusyCustomer(server, service, shop);
  await awaitStatistics(server, ["customers", "wallets", "grants", "assignments", "audit"]);
  const pages = { server, service, shop, customers: rows, calls: readCount("calls") };
  const { measured, failures, left } = await measurePages(pages, printPage);
  console.log(`not measured, as they are about one thing: ${left.join(", ")}`);

  const storm = await measureLogInStorm({
    service,
    shop,
    customers: rows,
    perSecond: readCount("rate"),
    seconds: readCount("seconds"),
    rounds: readCount("rounds"),
  });
  printStorm(storm);
  console.log((await verify(server.databaseUrl)).output.trim());

  const faults = [...failures, ...findFaults(imported, measured, storm)];
  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (values.json) console.log(JSON.stringify(summarize(rows, imported, measured, storm)));
  if (faults.length > 0) process.exitCode = 1;
}

function readCount(name: "rows" | "calls" | "rounds" | "seconds" | "rate"): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${values[name]}`);
  return count;
}

function printImport(rows: number, result: ImportResult): void {
  const count = (value: number): string => value.toLocaleString("en");
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

await main();
