import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { median, ms, rounded } from "../bench/figures.ts";
import { startService } from "../bench/purser/service.ts";
import { type BenchServer, count, openBenchServer } from "../bench/server.ts";
import { measureCharges } from "./charge-load.ts";
import { CUSTOMERS, fillLedger, openShop } from "./fill-ledger.ts";
import { runVerify, type VerifyRun } from "./run-verify.ts";

const HELP = `npm run verify-proof -- [options]

Fills a ledger with a million entries, verifies it, and measures charges with and without a verification beside them.
The last line is JSON.

  --seconds N  length of each measurement (15)
  --rounds N   measurements of each side, taken in turns; the median counts (3)
  --rate N     charges a second (500)
`;

const DATABASE = "verify";
const WARM_UP_SECONDS = 3;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "15" },
    rounds: { type: "string", default: "3" },
    rate: { type: "string", default: "500" },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const server = await openBenchServer(stack);
  console.log(await server.describe());
  await server.query("postgres", `create database ${DATABASE}`);
  const shop = await openShop(server, DATABASE);
  const databaseUrl = server.url(DATABASE);
  const url = await startService(databaseUrl, stack);
  await fillLedger(server, { database: DATABASE, url, shop });
  const entries = await countEntries(server);
  console.log(
    `${entries.toLocaleString("en")} ledger entries of ${CUSTOMERS.toLocaleString("en")} customers and a hot one`,
  );

  const alone = expectSound(await runVerify(databaseUrl));
  console.log(alone.output.trim());
  console.log(`alone: ${alone.seconds.toFixed(1)} s, at most ${alone.peakMegabytes.toFixed(0)} MB resident`);

  const charge = (): Promise<number> =>
    measureCharges({
      url,
      apiKey: shop.apiKey,
      customers: CUSTOMERS,
      perSecond: Number(values.rate),
      warmUpSeconds: WARM_UP_SECONDS,
      seconds: Number(values.seconds),
      keyPrefix: `verify-${randomUUID().slice(0, 13)}-`,
    });
  await charge();
  const without: number[] = [];
  const beside: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    without.push(await charge());
    beside.push(await besideVerify(databaseUrl, charge));
    console.log(
      `round ${round}: p99 of a charge ${ms(without.at(-1) ?? 0)}, beside verify ${ms(beside.at(-1) ?? 0)}`,
    );
  }
  expectSound(await runVerify(databaseUrl));
  console.log(
    JSON.stringify({
      entries,
      verify_seconds: rounded(alone.seconds),
      verify_peak_mb: rounded(alone.peakMegabytes),
      charges_per_s: Number(values.rate),
      consume_p99_ms: rounded(median(without)),
      consume_p99_beside_verify_ms: rounded(median(beside)),
      consume_p99_ms_rounds: without.map(rounded),
      consume_p99_beside_verify_ms_rounds: beside.map(rounded),
    }),
  );
}

async function countEntries(server: BenchServer): Promise<number> {
  const counts = await count(server, DATABASE, { entries: "select count(*) from cell.ledger" });
  return counts["entries"] ?? Number.NaN;
}

function expectSound(run: VerifyRun): VerifyRun {
  if (run.code !== 0) throw new Error(`verify ended with code ${run.code}: ${run.output}`);
  return run;
}

/** Verifies over and over as long as `measure` takes, what it writes included. */
async function besideVerify(databaseUrl: string, measure: () => Promise<number>): Promise<number> {
  let isMeasuring = true;
  const verifying = (async () => {
    while (isMeasuring) expectSound(await runVerify(databaseUrl));
  })();
  // A failure is told below, where it is waited for.
  verifying.catch(() => {});
  const measured = await measure();
  isMeasuring = false;
  await verifying;
  return measured;
}

await main();
