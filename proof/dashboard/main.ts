import { parseArgs } from "node:util";
import { ms, rounded } from "../bench/figures.ts";
import { openProofServer } from "../manage/server.ts";
import { openChromium } from "./chromium.ts";
import { fillDatabase } from "./fill.ts";
import { findSubjects } from "./find-subjects.ts";
import { cookiesOf, type Measured, measurePage } from "./measure.ts";
import { addressOf, DOOR_PAGES, PAGES } from "./pages.ts";

const HELP = `npm run dashboard-proof -- [options]

Fills a database with 100,000 customers and a million ledger entries, and opens every page of the dashboard in Chromium, each
time with an empty cache: until what it is about is there, no skeleton is left and a click would be answered. Fails when that
takes longer than a second at p95, when a first load brings more than 250 kB of compressed JavaScript, or when a page complains.
Charts and the sum of a ledger come when a page can be used already: how long until all is there stands beside, and the JavaScript
of charts is counted apart.

  --customers N  how many, of nine entries each (100000)
  --entries N    in all; a busy customer has those that the others leave (1000000)
  --rounds N     loads of each page (10)
  --p95-ms N     the bound; more, on a machine that does much else (1000)
  --json         the last line is JSON
`;

const SCRIPT_BYTES_MAX = 250_000;
const OWNER = { email: "owner@example.com", password: "seven-green-kettles" };

const { values } = parseArgs({
  options: {
    customers: { type: "string", default: "100000" },
    entries: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "10" },
    "p95-ms": { type: "string", default: "1000" },
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
  const customers = readCount("customers");
  const server = await openProofServer(stack);
  const { service, shop, entries } = await fillDatabase(
    server,
    { customers, entries: readCount("entries") },
    stack,
  );
  console.log(
    `${customers.toLocaleString("en")} customers and a busy one, ${entries.toLocaleString("en")} ledger entries`,
  );
  const { url } = service;
  const projectId = String(shop.context.projectId);
  const subjects = await findSubjects({ url, token: shop.token, projectId, environment: "live" });
  const browser = await openChromium(stack);
  const complaints: string[] = [];
  const cookies = await cookiesOf(browser, { url, complaints }, OWNER);

  const measured: Measured[] = [];
  const faults: string[] = [];
  const visits = [
    ...DOOR_PAGES.map((page) => ({ page, cookies: [] })),
    ...PAGES.map((page) => ({ page, cookies })),
  ];
  for (const { page, cookies: session } of visits) {
    const address = addressOf(page, subjects);
    if (address === null) {
      faults.push(`${page.name}: there is nothing for it to be about`);
      continue;
    }
    const visit = { url, complaints, cookies: session, rounds: readCount("rounds") };
    try {
      const result = await measurePage(browser, visit, { ...page, address });
      measured.push(result);
      print(result);
    } catch (error) {
      // One that does not work keeps nobody from measuring the others.
      faults.push(`${page.name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  faults.push(...measured.flatMap(findFaults), ...complaints);
  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (values.json) console.log(JSON.stringify(summarize(customers, entries, measured)));
  if (faults.length > 0) process.exitCode = 1;
}

function readCount(name: "customers" | "entries" | "rounds" | "p95-ms"): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${values[name]}`);
  return count;
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(0)} kB`;

function print({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }: Measured): void {
  const times = `${ms(p50Ms).padStart(10)} p50 ${ms(p95Ms).padStart(10)} p95 ${ms(settledP95Ms).padStart(10)} all`;
  const charts = chartBytes === 0 ? "" : ` + ${kilobytes(chartBytes)} of charts`;
  console.log(`${times} ${kilobytes(scriptBytes).padStart(8)} of scripts  ${name}${charts}`);
}

function findFaults({ name, p95Ms, scriptBytes }: Measured): string[] {
  const p95MsMax = readCount("p95-ms");
  return [
    ...(p95Ms > p95MsMax ? [`${name}: p95 ${ms(p95Ms)}, more than ${p95MsMax} ms`] : []),
    ...(scriptBytes > SCRIPT_BYTES_MAX ? [`${name}: ${kilobytes(scriptBytes)} of scripts`] : []),
  ];
}

function summarize(customers: number, entries: number, measured: readonly Measured[]): object {
  return {
    customers,
    entries,
    p95_ms_max: rounded(Math.max(...measured.map(({ p95Ms }) => p95Ms))),
    script_bytes_max: Math.max(...measured.map(({ scriptBytes }) => scriptBytes)),
    pages: Object.fromEntries(
      measured.map(({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }) => [
        name,
        {
          p50_ms: rounded(p50Ms),
          p95_ms: rounded(p95Ms),
          settled_p95_ms: rounded(settledP95Ms),
          script_bytes: scriptBytes,
          chart_bytes: chartBytes,
        },
      ]),
    ),
  };
}

await main();
