import { parseArgs } from "node:util";
import { parsePublicId } from "../../service/src/words/public-id.ts";
import { median, ms, rounded } from "../bench/figures.ts";
import { expect } from "../manage/import-through-a-kill.ts";
import { DATABASE, openProofServer, type ProofServer, pause } from "../manage/server.ts";
import { Service } from "../manage/service.ts";
import { openShop, type Shop } from "../manage/shop.ts";
import { watchTransactions } from "../manage/watch-transactions.ts";
import { CUSTOMERS, fillEvents } from "./fill-events.ts";
import { type ExportFormat, readExport, type Seen } from "./read-export.ts";

const HELP = `npm run export-proof -- [options]

Exports events while others are recorded, hangs up on it, kills the service with kill -9, goes on each time after the last
row that arrived, and checks that no row is missing or came twice. Then times every list of events. Needs Linux.

  --events N  how many there are (5000000)
  --calls N   calls of each list (50)
  --format F  ndjson or csv, instead of one after the other
  --json      the last line is JSON
`;

const MEGABYTES_MAX = 200;
/** Held to this much, a process in which anything grew with the export would end; left alone, it collects garbage late. */
const MEMORY = ["--max-old-space-size=80", "--max-semi-space-size=8"];
const TRANSACTION_MS_MAX = 5_000;
const PAGE_MS_MAX = 100;

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "5000000" },
    calls: { type: "string", default: "50" },
    format: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  const events = readCount("events");
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const server = await openProofServer(stack);
  const shop = await openShop(server);
  await fillEvents(server, shop, events);
  console.log(`${count(events)} events of ${count(CUSTOMERS)} customers`);
  const faults: string[] = [];
  const figures: Record<string, unknown> = { events };
  let service = await Service.start(server.databaseUrl, stack, MEMORY);
  for (const format of readFormats()) {
    const run = await exportThroughFaults({ server, shop, service, stack, format, events });
    service = run.service;
    const { seconds, megabytes, transactionMsMax } = run;
    console.log(
      `${format}: ${count(run.rows)} rows in ${seconds.toFixed(1)} s, in four parts, with a kill -9 between two of them; ` +
        `at most ${megabytes.toFixed(0)} MB resident, longest transaction seen ${ms(transactionMsMax)}`,
    );
    figures[format] = {
      seconds: rounded(seconds),
      peak_mb: rounded(megabytes),
      transaction_ms_max: rounded(transactionMsMax),
    };
    if (megabytes > MEGABYTES_MAX) faults.push(`${format}: ${megabytes.toFixed(0)} MB resident`);
    if (transactionMsMax > TRANSACTION_MS_MAX)
      faults.push(`${format}: a transaction of ${ms(transactionMsMax)}`);
  }
  const pages = await timePages(service, shop, readCount("calls"));
  for (const { name, p50Ms, maxMs } of pages) {
    console.log(`${ms(p50Ms).padStart(9)} p50 ${ms(maxMs).padStart(9)} max  ${name}`);
    if (p50Ms > PAGE_MS_MAX) faults.push(`${name}: ${ms(p50Ms)}`);
  }
  figures["pages"] = Object.fromEntries(
    pages.map(({ name, p50Ms, maxMs }) => [name, { p50_ms: rounded(p50Ms), max_ms: rounded(maxMs) }]),
  );
  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (values.json) console.log(JSON.stringify(figures));
  if (faults.length > 0) process.exitCode = 1;
}

type Run = {
  readonly server: ProofServer;
  readonly shop: Shop;
  readonly service: Service;
  readonly stack: AsyncDisposableStack;
  readonly format: ExportFormat;
  readonly events: number;
};

/** A quarter, and the reader hangs up; another, and the service is killed; another, and the reader hangs up; the rest. */
async function exportThroughFaults({ server, shop, service: first, stack, format, events }: Run) {
  const atRest = await first.peakMegabytes();
  console.log(`${format}: ${atRest.toFixed(0)} MB resident before it`);
  const seen: Seen = { rows: 0, quantity: 0, last: "", cursor: null };
  const startMs = performance.now();
  const watch = watchTransactions(server);
  let service = first;
  let megabytes = 0;
  let asOf = "";
  let isWhole = false;
  const answered: Answered[] = [];
  for (let part = 1; !isWhole; part++) {
    if (part > 10) throw new Error("the export does not come to its end");
    const recorder = keepRecording(service, shop, answered);
    while (answered.length < ANSWERED_MIN) await pause(5);
    const rowsMax = part < 4 ? Math.floor((events * part) / 4) : Number.POSITIVE_INFINITY;
    const reading = readExport(`${service.url}${shop.here}/exports/events`, shop.token, {
      format,
      seen,
      rowsMax,
    });
    if (part === 2) {
      while (seen.rows < events * 0.375) await pause(5);
      megabytes = Math.max(megabytes, await service.peakMegabytes());
      await Promise.all([service.kill(), recorder.stop(), reading]);
      service = await Service.start(server.databaseUrl, stack, MEMORY);
      continue;
    }
    const ended = await reading;
    await recorder.stop();
    asOf ||= ended.asOf;
    expect("each part is about the same", ended.asOf, asOf);
    isWhole = ended.isWhole;
    megabytes = Math.max(megabytes, await service.peakMegabytes());
  }
  const transactionMsMax = await watch.stop();
  const [there = {}] = await server.query(
    DATABASE,
    `select count(*) as rows, sum(quantity) as quantity from cell.events
     where environment_id = ${shop.context.environmentId} and ${writtenBefore(seen.cursor)}`,
  );
  expect("rows, none of them twice", seen.rows, Number(there["rows"]));
  expect("their quantities", seen.quantity, Number(there["quantity"]));
  const before = answered.filter(({ atMs }) => atMs < Date.parse(asOf)).map(({ id }) => `'${id}'`);
  if (before.length < ANSWERED_MIN)
    throw new Error(`only ${before.length} events were answered before it began`);
  const [late = {}] = await server.query(
    DATABASE,
    `select count(*) as rows from cell.events where id in (${before}) and not (${writtenBefore(seen.cursor)})`,
  );
  expect("events answered before it began that are not in it", Number(late["rows"]), 0);
  return {
    service,
    rows: seen.rows,
    seconds: (performance.now() - startMs) / 1_000,
    megabytes,
    transactionMsMax,
  };
}

/** What a file is about stands in its cursors: rows of lower transactions, but for those that were under way. */
function writtenBefore(cursor: string | null): string {
  const [, settled] = JSON.parse(Buffer.from(cursor ?? "", "base64url").toString());
  const [, below = 0, ...under]: number[] = String(settled).split("-").map(Number);
  const without = under.map((distance) => below - distance);
  return `transaction_number < ${below} and transaction_number <> all(array[${without}]::bigint[])`;
}

type Answered = { readonly id: string; readonly atMs: number };
/** Before a file begins: so that there is something to be missed. */
const ANSWERED_MIN = 5;

/** Others are recorded meanwhile, of all times, also of those that the export is through with. */
function keepRecording({ url }: Service, { apiKey }: Shop, answered: Answered[]): { stop(): Promise<void> } {
  let isRecording = true;
  const record = async (timestamp: string): Promise<void> => {
    const response = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ customerId: "customer_1", event: "meanwhile", quantity: 1, timestamp }),
    });
    const atMs = Date.now();
    const { eventId } = (await response.json()) as { readonly eventId?: string };
    const id = parsePublicId("evt", eventId ?? "")?.toString("hex");
    if (id !== undefined) answered.push({ id, atMs });
  };
  const recording = (async () => {
    for (let n = 0; isRecording; n++) {
      // Some meet a service that was just killed.
      await record(new Date(Date.now() - (n % 30) * 86_400_000).toISOString()).catch(() => {});
      await pause(20);
    }
  })();
  return {
    stop: () => {
      isRecording = false;
      return recording;
    },
  };
}

async function timePages({ url }: Service, { here, token }: Shop, calls: number) {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString();
  const paths: Record<string, (call: number) => string> = {
    "events, first page": () => "events",
    "events, 200": () => "events?limit=200",
    "events of a day": (call) => `events?from=${day(2 + (call % 60))}&to=${day(1 + (call % 60))}`,
    "events by a frequent key": () => "events?event=tokens.generated",
    "events by a rare key": () => "events?event=rare.event",
    "events by a key that none has": () => "events?event=none",
    "events by metadata": () => "events?metadata=model%3Dhuge",
    "events of a customer": (call) => `customers/customer_${1 + ((call * 104_729) % CUSTOMERS)}/events`,
    "events of a customer by a key that none has": (call) =>
      `events?customerId=customer_${1 + (call % CUSTOMERS)}&event=none`,
    "events of a customer of a day": (call) =>
      `customers/customer_${1 + call}/events?from=${day(31)}&to=${day(30)}`,
  };
  const measured = [];
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let call = 0; call < calls; call++) {
      const startMs = performance.now();
      const response = await fetch(`${url}${here}/${path(call)}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path(call)} was answered with ${text}`);
      times.push(performance.now() - startMs);
    }
    measured.push({ name, p50Ms: median(times), maxMs: Math.max(...times) });
  }
  return measured;
}

function readFormats(): ExportFormat[] {
  const both = ["ndjson", "csv"] as const;
  const { format } = values;
  const wanted = both.filter((one) => format === undefined || format === one);
  if (wanted.length === 0) throw new Error(`--format takes ndjson or csv, not ${format}`);
  return wanted;
}

function readCount(name: "events" | "calls"): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${name} takes a number, not ${values[name]}`);
  return number;
}

function count(value: number): string {
  return value.toLocaleString("en");
}

await main();
