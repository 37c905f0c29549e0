import { CUSTOMERS } from "../harness/calls.ts";
import { median, ms, quantile, rate, rounded } from "../harness/figures.ts";
import type { TracedCall } from "../harness/open-loop.ts";
import { prepareBareCharges, runBareCharges, runBareChargesAtRate } from "./bare/bare.ts";
import { Collector, type TracedRequest } from "./collector.ts";
import { type Load, Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

type Options = {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly print: (line: string) => void;
  readonly stack: AsyncDisposableStack;
};

const EVERYONE: Load = { call: "consume", customers: CUSTOMERS };
/** Tracing costs time, so only some calls are traced. */
const TRACED_EVERY = 10;
const SLOW_SHARE = 0.01;
const BAR_WIDTH = 50;

/** Where a charge spends its time, in order. The times add up to the latency that the caller measured. */
const STEPS = {
  generator: "due, but not sent yet",
  "before and after": "sockets, and waiting for the event loop",
  receive: "authenticate, parse, validate",
  queue: "wait for the previous batch",
  read: "lock and read",
  write: "decide, write and commit",
  reply: "send the response",
} as const;
type Step = keyof typeof STEPS;
type Waterfall = Readonly<Record<Step, number>> & { readonly latencyMs: number; readonly batchSize: number };

type Round = {
  readonly bare: { readonly p50Ms: number; readonly p99Ms: number };
  readonly purser: { readonly p50Ms: number; readonly p99Ms: number };
  readonly waterfalls: readonly Waterfall[];
};

/** Measures the latency at half of the peak rate, of Purser and of bare PostgreSQL, and draws where slow charges spend their time. */
export async function benchTail({ rounds, print, stack, ...options }: Options): Promise<object> {
  const server = await openBenchServer(stack);
  print(await server.describe());
  await prepareBareCharges(server);
  const collector = await Collector.start(stack);
  const purser = await Purser.prepare(server, stack, { environment: collector.environment });
  const measureRound = async (): Promise<Round> => {
    await recycleLog(server);
    const { seconds } = options;
    const peak = await runBareCharges(server, { seconds, customers: CUSTOMERS, onEach: () => {} });
    const bareHalf = Math.round(peak.perSecond / 2);
    const bare = await runBareChargesAtRate(server, { ...peak, seconds, perSecond: bareHalf });
    print(`  bare PostgreSQL at ${rate(bareHalf)}: p50 ${ms(bare.p50Ms)}, p99 ${ms(bare.p99Ms)}`);
    const full = await purser.measure(EVERYONE, { ...options, processes: 1 });
    const perSecond = Math.round(full.perSecond / 2);
    const half = await purser.measureAtRate(EVERYONE, { seconds, perSecond, tracedEvery: TRACED_EVERY });
    const requests = await collector.take(half.traced.length);
    print(
      `  consume at ${rate(perSecond)}: p50 ${ms(half.p50Ms)}, p99 ${ms(half.p99Ms)} ` +
        `(delay of the generator: p99 ${ms(half.lateP99Ms)})`,
    );
    return { bare, purser: half, waterfalls: half.traced.flatMap((call) => toWaterfall(call, requests)) };
  };
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    print(`round ${round}`);
    measured.push(await measureRound());
  }
  const all = measured.flatMap(({ waterfalls }) => waterfalls);
  const limitMs = quantile(
    all.map(({ latencyMs }) => latencyMs),
    1 - SLOW_SHARE,
  );
  const groups = { all, slowest: all.filter(({ latencyMs }) => latencyMs >= limitMs) };
  print(draw("all", groups.all));
  print(draw("the slowest 1%", groups.slowest));
  const ratios = measured.map(({ bare, purser: own }) => own.p99Ms / bare.p99Ms);
  return {
    p99_ratio: rounded(median(ratios)),
    p50_ms: rounded(median(measured.map(({ purser: own }) => own.p50Ms))),
    p99_ms: rounded(median(measured.map(({ purser: own }) => own.p99Ms))),
    bare_p50_ms: rounded(median(measured.map(({ bare }) => bare.p50Ms))),
    bare_p99_ms: rounded(median(measured.map(({ bare }) => bare.p99Ms))),
    waterfalls: Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, averages(group)])),
  };
}

/** Empty if the trace was dropped, or if the request was tried more than once. */
function toWaterfall(
  { traceId, latencyMs, lateMs }: TracedCall,
  requests: ReadonlyMap<string, TracedRequest>,
): Waterfall[] {
  const request = requests.get(traceId);
  if (request === undefined) return [];
  const { totalMs, receive, queue, read, write, reply, batchSize } = request;
  const outside = { generator: lateMs, "before and after": latencyMs - lateMs - totalMs };
  return [{ latencyMs, batchSize, ...outside, receive, queue, read, write, reply }];
}

function averages(group: readonly Waterfall[]): Record<string, number> {
  const average = (value: (waterfall: Waterfall) => number): number =>
    rounded(group.reduce((sum, waterfall) => sum + value(waterfall), 0) / group.length);
  return {
    charges: group.length,
    latency_ms: average(({ latencyMs }) => latencyMs),
    batch_size: average(({ batchSize }) => batchSize),
    ...Object.fromEntries(
      (Object.keys(STEPS) as Step[]).map((step) => [step, average((each) => each[step])]),
    ),
  };
}

/** One line for each step. Each bar starts where the previous bar ends. */
function draw(name: string, group: readonly Waterfall[]): string {
  const { charges, latency_ms: latencyMs = 0, batch_size: batchSize, ...steps } = averages(group);
  let start = 0;
  const lines = Object.entries(STEPS).map(([step, about]) => {
    const stepMs = steps[step] ?? 0;
    const column = (valueMs: number): number => Math.round((valueMs / latencyMs) * BAR_WIDTH);
    const bar = `${" ".repeat(column(start))}${"█".repeat(column(start + stepMs) - column(start))}`;
    start += stepMs;
    return `    ${step.padEnd(17)}${ms(stepMs).padStart(9)}  ${bar.padEnd(BAR_WIDTH)}  ${about}`;
  });
  return [
    `  ${name}: ${charges} charges, ${ms(latencyMs)} on average, in batches of ${batchSize}`,
    ...lines,
  ].join("\n");
}
