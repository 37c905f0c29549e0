import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { ms, rounded } from "../bench/figures.ts";
import { startService } from "../bench/purser/service.ts";
import { type BenchServer, count, openBenchServer } from "../bench/server.ts";
import { sendCharges } from "./charge-load.ts";
import { CUSTOMERS, fillLedger, openShop } from "./fill-ledger.ts";
import { startVerify, verify } from "./run-verify.ts";

const HELP = `npm run verify-proof -- [options]

Fills a ledger with a million entries, verifies it, and measures charges with and without a verification beside them,
in turns, so that a noisy neighbour hits both alike. The last line is JSON.

  --seconds N  length of each turn (5)
  --rounds N   turns of each side (10)
  --rate N     charges a second (500)
`;

const DATABASE = "verify";
const WARM_UP_SECONDS = 5;
/** Until the command is at work. */
const START_MS = 2_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "10" },
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

  const alone = await verify(databaseUrl);
  console.log(alone.output.trim());
  console.log(`alone: ${alone.seconds.toFixed(1)} s, at most ${alone.peakMegabytes.toFixed(0)} MB resident`);

  const charge = (seconds: number): Promise<number[]> =>
    sendCharges({
      url,
      apiKey: shop.apiKey,
      customers: CUSTOMERS,
      perSecond: Number(values.rate),
      seconds,
      keyPrefix: `verify-${randomUUID().slice(0, 13)}-`,
    });
  const { without, beside } = await measureInTurns(databaseUrl, charge);
  for (const [name, { p50Ms, p99Ms }] of Object.entries({
    "without verify": without,
    "beside verify": beside,
  }))
    console.log(`charges ${name}: p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`);

  const [charged] = await Promise.all([verify(databaseUrl), charge(alone.seconds)]);
  console.log(charged.output.trim());
  console.log(
    JSON.stringify({
      entries,
      verify_seconds: rounded(alone.seconds),
      verify_peak_mb: rounded(alone.peakMegabytes),
      charges_per_s: Number(values.rate),
      consume_p50_ms: rounded(without.p50Ms),
      consume_p50_beside_verify_ms: rounded(beside.p50Ms),
      consume_p99_ms: rounded(without.p99Ms),
      consume_p99_beside_verify_ms: rounded(beside.p99Ms),
    }),
  );
}

async function countEntries(server: BenchServer): Promise<number> {
  const counts = await count(server, DATABASE, { entries: "select count(*) from cell.ledger" });
  return counts["entries"] ?? Number.NaN;
}

type Charge = (seconds: number) => Promise<number[]>;
type Latency = { readonly p50Ms: number; readonly p99Ms: number };

async function measureInTurns(
  databaseUrl: string,
  charge: Charge,
): Promise<{ without: Latency; beside: Latency }> {
  const seconds = Number(values.seconds);
  const without: number[] = [];
  const beside: number[] = [];
  await charge(WARM_UP_SECONDS);
  for (let round = 1; round <= Number(values.rounds); round++) {
    without.push(...(await charge(seconds)));
    const verification = startVerify(databaseUrl);
    await new Promise((resolve) => setTimeout(resolve, START_MS));
    beside.push(...(await charge(seconds)));
    verification.stop();
    const { code, output } = await verification.ended;
    if (code !== null) throw new Error(`verify ended with code ${code} during a turn: ${output}`);
  }
  return { without: latencyOf(without), beside: latencyOf(beside) };
}

function latencyOf(measured: readonly number[]): Latency {
  const sorted = measured.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

await main();
