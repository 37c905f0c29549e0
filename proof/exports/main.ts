import { setTimeout as pause } from "node:timers/promises";
import { parsePublicId } from "../../service/src/primitives/public-id.ts";
import { Caller } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { type Database, watchTransactions } from "../harness/database.ts";
import { count, expectEqual, findExceeded, median, megabytes, ms, rounded } from "../harness/figures.ts";
import { startLoop } from "../harness/loop.ts";
import { openInstallation, type Project } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { CUSTOMERS, fillEvents } from "./fill-events.ts";
import { type ExportFormat, readExport, type Seen } from "./read-export.ts";

const MEGABYTES_MAX = 200;
/** A small heap, so that a process fails if its memory grows with the export, and collects garbage early. */
const SMALL_HEAP = { node: ["--max-old-space-size=80", "--max-semi-space-size=8"] };
const TRANSACTION_MS_MAX = 5_000;
const PAGE_MS_MAX = 100;
/** Events acknowledged before an export starts, which it must contain. */
const ANSWERED_MIN = 5;
const FORMATS = ["ndjson", "csv"] as const satisfies readonly ExportFormat[];

await runProof(
  {
    command: "npm run export-proof",
    about: `Exports events while others are recorded. Closes the connection twice and kills the service once with kill -9; each time it
resumes after the last row received. Fails if a row is missing or duplicated. Then times every list of events. Needs Linux.`,
    options: {
      events: { default: 5_000_000, help: "number of events" },
      calls: { default: 50, help: "calls to each list" },
      format: { default: null, takes: "F", help: "ndjson or csv instead of both" },
    },
  },
  async ({ options: { events, calls, format: wanted }, stack }) => {
    const formats = FORMATS.filter((format) => wanted === null || wanted === format);
    if (formats.length === 0) throw new Error(`--format takes ndjson or csv, not ${wanted}`);
    const { database, project } = await openInstallation(stack);
    await fillEvents(database, project, events);
    console.log(`${count(events)} events from ${count(CUSTOMERS)} customers`);
    const faults: string[] = [];
    const figures: Record<string, unknown> = { events };
    let service = await Service.start(database.url, stack, SMALL_HEAP);
    for (const format of formats) {
      const run = await exportThroughFaults({ database, project, service, stack, format, events });
      service = run.service;
      const { seconds, peakMb, transactionMsMax } = run;
      console.log(
        `${format}: ${count(run.rows)} rows in ${seconds.toFixed(1)} s, in four parts, with one kill -9; ` +
          `peak memory ${megabytes(peakMb)}, longest transaction ${ms(transactionMsMax)}`,
      );
      figures[format] = {
        seconds: rounded(seconds),
        peak_mb: rounded(peakMb),
        transaction_ms_max: rounded(transactionMsMax),
      };
      faults.push(
        ...findExceeded([
          [`${format}: memory`, peakMb, MEGABYTES_MAX, megabytes],
          [`${format}: longest transaction`, transactionMsMax, TRANSACTION_MS_MAX, ms],
        ]),
      );
    }
    const pages = await timePages(new Caller(service, project), calls);
    for (const { name, p50Ms, maxMs } of pages)
      console.log(`${ms(p50Ms).padStart(9)} p50 ${ms(maxMs).padStart(9)} max  ${name}`);
    faults.push(...findExceeded(pages.map(({ name, p50Ms }) => [name, p50Ms, PAGE_MS_MAX, ms])));
    figures["pages"] = Object.fromEntries(
      pages.map(({ name, p50Ms, maxMs }) => [name, { p50_ms: rounded(p50Ms), max_ms: rounded(maxMs) }]),
    );
    return { faults, figures };
  },
);

type Run = {
  readonly database: Database;
  readonly project: Project;
  readonly service: Service;
  readonly stack: AsyncDisposableStack;
  readonly format: ExportFormat;
  readonly events: number;
};

/** Exports in four parts. The reader disconnects after the first and third part, and the service is killed during the second. */
async function exportThroughFaults({ database, project, service: first, stack, format, events }: Run) {
  const atRest = await first.peakMegabytes();
  console.log(`${format}: ${atRest.toFixed(0)} MB resident before the export`);
  const seen: Seen = { rows: 0, quantity: 0, last: "", cursor: null };
  const startMs = performance.now();
  const watch = watchTransactions(database);
  let service = first;
  let peakMb = 0;
  let asOf = "";
  let isWhole = false;
  const answered: Answered[] = [];
  for (let part = 1; !isWhole; part++) {
    if (part > 10) throw new Error("the export did not end after 10 parts");
    const recorder = keepRecording(new Caller(service, project), answered);
    while (answered.length < ANSWERED_MIN) await pause(5);
    const rowsMax = part < 4 ? Math.floor((events * part) / 4) : Number.POSITIVE_INFINITY;
    const reading = readExport(`${service.url}${project.here}/exports/events`, project.token, {
      format,
      seen,
      rowsMax,
    });
    if (part === 2) {
      while (seen.rows < events * 0.375) await pause(5);
      peakMb = Math.max(peakMb, await service.peakMegabytes());
      await Promise.all([service.kill(), recorder.stop(), reading]);
      service = await Service.start(database.url, stack, SMALL_HEAP);
      continue;
    }
    const ended = await reading;
    await recorder.stop();
    asOf ||= ended.asOf;
    expectEqual("time of the snapshot of each part", ended.asOf, asOf);
    isWhole = ended.isWhole;
    peakMb = Math.max(peakMb, await service.peakMegabytes());
  }
  const transactionMsMax = await watch.stop();
  const [there = {}] = await database.query(
    `select count(*) as rows, sum(quantity) as quantity from cell.events
     where environment_id = ${project.context.environmentId} and ${writtenBefore(seen.cursor)}`,
  );
  expectEqual("rows", seen.rows, Number(there["rows"]));
  expectEqual("sum of quantities", seen.quantity, Number(there["quantity"]));
  const before = answered.filter(({ atMs }) => atMs < Date.parse(asOf)).map(({ id }) => `'${id}'`);
  if (before.length < ANSWERED_MIN)
    throw new Error(`only ${before.length} events were acknowledged before the export started`);
  const [late = {}] = await database.query(
    `select count(*) as rows from cell.events where id in (${before}) and not (${writtenBefore(seen.cursor)})`,
  );
  expectEqual("acknowledged events that are missing from the export", Number(late["rows"]), 0);
  return {
    service,
    rows: seen.rows,
    seconds: (performance.now() - startMs) / 1_000,
    peakMb,
    transactionMsMax,
  };
}

/** SQL condition for the cursor's snapshot: rows with lower transaction numbers, except those of open transactions. */
function writtenBefore(cursor: string | null): string {
  const [, settled] = JSON.parse(Buffer.from(cursor ?? "", "base64url").toString());
  const [, below = 0, ...under]: number[] = String(settled).split("-").map(Number);
  const without = under.map((distance) => below - distance);
  return `transaction_number < ${below} and transaction_number <> all(array[${without}]::bigint[])`;
}

type Answered = { readonly id: string; readonly atMs: number };

/** Records events during the export, with times before and after its current position. */
function keepRecording(caller: Caller, answered: Answered[]): { stop(): Promise<void> } {
  const record = async (timestamp: string): Promise<void> => {
    const body = { customerId: "customer_1", event: "meanwhile", quantity: 1, timestamp };
    const { text } = await caller.send("POST", "/v1/events", { body });
    const atMs = Date.now();
    const { eventId }: { readonly eventId?: string } = JSON.parse(text);
    const id = parsePublicId("evt", eventId ?? "")?.toString("hex");
    if (id !== undefined) answered.push({ id, atMs });
  };
  return startLoop(async (round) => {
    // Calls fail while the service is down.
    await record(new Date(Date.now() - (round % 30) * 86_400_000).toISOString()).catch(() => {});
    await pause(20);
  });
}

async function timePages(caller: Caller, calls: number) {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString();
  const paths: Record<string, (call: number) => string> = {
    "events, first page": () => "events",
    "events, 200": () => "events?limit=200",
    "events on one day": (call) => `events?from=${day(2 + (call % 60))}&to=${day(1 + (call % 60))}`,
    "events by a frequent key": () => "events?event=tokens.generated",
    "events by a rare key": () => "events?event=rare.event",
    "events by an unused key": () => "events?event=none",
    "events by metadata": () => "events?metadata=model%3Dhuge",
    "events of a customer": (call) => `customers/customer_${1 + ((call * 104_729) % CUSTOMERS)}/events`,
    "events of a customer by an unused key": (call) =>
      `events?customerId=customer_${1 + (call % CUSTOMERS)}&event=none`,
    "events of a customer on one day": (call) =>
      `customers/customer_${1 + call}/events?from=${day(31)}&to=${day(30)}`,
  };
  const measured = [];
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let call = 0; call < calls; call++) times.push((await caller.call("GET", path(call))).ms);
    measured.push({ name, p50Ms: median(times), maxMs: Math.max(...times) });
  }
  return measured;
}
