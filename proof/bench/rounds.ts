import { BATCH_EVENTS, CUSTOMERS } from "../harness/calls.ts";
import { median, ms, rate, rounded } from "../harness/figures.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import {
  type BareCharges,
  prepareBareCharges,
  prepareBareEvents,
  runBareCharges,
  runBareEvents,
} from "./bare/bare.ts";
import { type Load, type Measured, Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

export const PARTS = ["consume", "two", "hot", "check", "events", "batch", "holds"] as const;
export type Part = (typeof PARTS)[number];

type Options = {
  readonly parts: ReadonlySet<Part>;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly print: (line: string) => void;
  readonly stack: AsyncDisposableStack;
};

type Round = Options & { readonly server: PostgresServer; readonly purser: Purser };

type Figures = {
  /** Charges to 100,000 customers, relative to bare PostgreSQL with the fastest number of clients. */
  readonly consume_ratio: number;
  /** Charges to a single customer, relative to bare PostgreSQL. */
  readonly hot_ratio: number;
  /** Charges with two API processes, relative to a single process. */
  readonly two_process_ratio: number;
  readonly check_per_s: number;
  readonly consume_per_s: number;
  readonly events_ratio: number;
  /** Events in batches of 100, relative to single events. */
  readonly batch_ratio: number;
  /** Events in batches of 100, relative to bare multi-row inserts into the same tables. */
  readonly batch_bare_ratio: number;
  /** Holds that are opened and settled, relative to charges: two calls for one charge. */
  readonly hold_settle_ratio: number;
  /** Charges to a customer with 1,000 open holds, relative to the same customer without holds. */
  readonly open_holds_ratio: number;
  /** Measured in an open loop, at half of consume_per_s. */
  readonly consume_p99_half_ms: number;
  /** Growth of all tables and indexes for each charge. */
  readonly bytes_per_consume: number;
};

const DECIMALS: Readonly<Record<keyof Figures, (value: number) => number>> = {
  consume_ratio: rounded,
  hot_ratio: rounded,
  two_process_ratio: rounded,
  check_per_s: Math.round,
  consume_per_s: Math.round,
  events_ratio: rounded,
  batch_ratio: rounded,
  batch_bare_ratio: rounded,
  hold_settle_ratio: rounded,
  open_holds_ratio: rounded,
  consume_p99_half_ms: rounded,
  bytes_per_consume: Math.round,
};

const EVERYONE: Load = { call: "consume", customers: CUSTOMERS };
const HOT: Load = { call: "consume", customers: 1 };
const CHECK: Load = { call: "check", customers: CUSTOMERS };
const HOLDS: Load = { call: "holds", customers: CUSTOMERS };
const OPEN_HOLDS = 1_000;
const EVENTS: Load = { call: "events", customers: CUSTOMERS };
const BATCH: Load = { call: "batch", customers: CUSTOMERS };
/** Fewer connections than for single events, because the queue would reject batches from more connections. */
const BATCH_CONNECTIONS = 16;
/** Connections for the bare inserts. Equal to the number of batch lanes in a process. */
const BATCH_CLIENTS = 2;

/** Measures HTTP and bare PostgreSQL alternately on one server. Parts that were not measured are null. */
export async function benchAll(options: Options): Promise<object> {
  const { parts } = options;
  const measure = async (round: Round): Promise<Partial<Figures>> => ({
    ...(parts.has("consume") || parts.has("two") ? await measureConsume(round) : {}),
    ...(parts.has("hot") ? await measureHot(round) : {}),
    ...(parts.has("check") ? await measureCheck(round) : {}),
    ...(parts.has("events") ? await measureEventsRatio(round) : {}),
    ...(parts.has("batch") ? await measureBatch(round) : {}),
    ...(parts.has("holds") ? await measureHolds(round) : {}),
  });
  const { rounds, purser } = await runRounds(options, measure);
  await purser.checkCharges();
  // Runs only in a full run, because it takes minutes.
  if (PARTS.every((part) => parts.has(part))) await purser.verify();
  return Object.fromEntries(
    Object.entries(DECIMALS).map(([name, round]) => {
      const values = rounds.flatMap((figures) => figures[name as keyof Figures] ?? []);
      return [name, values.length === 0 ? null : round(median(values))];
    }),
  );
}

/** Measures only events, with more figures. `ratio` compares with the two-statement transaction that an application would write. */
export async function benchEvents(options: Omit<Options, "parts">): Promise<object> {
  const { rounds } = await runRounds({ ...options, parts: new Set(["events"]) }, measureEvents);
  const medianOf = (value: (round: EventsRound) => number): number => median(rounds.map(value));
  return {
    events_per_s: Math.round(medianOf(({ perSecond }) => perSecond)),
    bare_per_s: Math.round(medianOf(({ bare }) => bare)),
    ratio: rounded(medianOf(({ perSecond, bare }) => perSecond / bare)),
    p99_ms: rounded(medianOf(({ p99Ms }) => p99Ms)),
    bare_one_statement_per_s: Math.round(medianOf(({ oneStatement }) => oneStatement)),
    ratio_one_statement: rounded(medianOf(({ perSecond, oneStatement }) => perSecond / oneStatement)),
    rounds: rounds.length,
  };
}

async function runRounds<Result>(
  options: Options,
  measure: (round: Round) => Promise<Result>,
): Promise<{ rounds: Result[]; purser: Purser }> {
  const { parts, print, stack } = options;
  const server = await openBenchServer(stack);
  print(await server.describe());
  if (parts.has("consume") || parts.has("hot")) await prepareBareCharges(server);
  if (parts.has("events")) await prepareBareEvents(server);
  const purser = await Purser.prepare(server, stack);
  const rounds: Result[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    print(`round ${round}`);
    await recycleLog(server);
    rounds.push(await measure({ ...options, server, purser }));
  }
  return { rounds, purser };
}

/** If only "two" is selected, one process is measured too, for comparison. */
async function measureConsume(round: Round): Promise<Partial<Figures>> {
  const { parts, purser, print, seconds } = round;
  const bare = parts.has("consume") ? await measureBare(round, EVERYONE) : null;
  const consume = await purser.measure(EVERYONE, { ...round, processes: 1 });
  print(describe("consume", consume, bare));
  print(`  stored per charge: ${consume.storedBytesPerCall.toFixed(0)} bytes of tables and indexes`);
  print(`  written per charge: ${consume.walBytesPerCall.toFixed(0)} bytes of WAL`);
  const two = parts.has("two") ? await measureTwo(round, consume) : {};
  if (bare === null) return two;

  const perSecond = Math.round(consume.perSecond / 2);
  const half = await purser.measureAtRate(EVERYONE, { seconds, perSecond });
  print(
    `  consume at half that rate, ${rate(perSecond)}: p50 ${ms(half.p50Ms)}, p99 ${ms(half.p99Ms)} ` +
      `(delay of the generator: p99 ${ms(half.lateP99Ms)})`,
  );
  return {
    ...two,
    consume_ratio: consume.perSecond / bare.perSecond,
    consume_per_s: consume.perSecond,
    consume_p99_half_ms: half.p99Ms,
    bytes_per_consume: consume.storedBytesPerCall,
  };
}

async function measureTwo(round: Round, one: Measured): Promise<Partial<Figures>> {
  const two = await round.purser.measure(EVERYONE, { ...round, processes: 2 });
  const ratio = two.perSecond / one.perSecond;
  round.print(`${describe("consume, two processes", two)}, ${ratio.toFixed(2)} of one process`);
  return { two_process_ratio: ratio };
}

async function measureHot(round: Round): Promise<Partial<Figures>> {
  const bare = await measureBare(round, HOT);
  const hot = await round.purser.measure(HOT, { ...round, processes: 1 });
  round.print(describe("consume, one hot customer", hot, bare));
  return { hot_ratio: hot.perSecond / bare.perSecond };
}

async function measureCheck(round: Round): Promise<Partial<Figures>> {
  const check = await round.purser.measure(CHECK, { ...round, processes: 1 });
  round.print(describe("check", check));
  return { check_per_s: check.perSecond };
}

type EventsRound = Measured & { readonly bare: number; readonly oneStatement: number };

async function measureEvents(round: Round): Promise<EventsRound> {
  const { server, purser, print, seconds, connections: clients } = round;
  const bare = await runBareEvents(server, "event-transaction", { seconds, clients });
  print(`  bare events, ${clients} clients: ${rate(bare)}`);
  const oneStatement = await runBareEvents(server, "event-one-statement", { seconds, clients });
  print(`  bare events in one statement, ${clients} clients: ${rate(oneStatement)}`);
  const events = await purser.measure(EVENTS, { ...round, processes: 1 });
  print(describe("events", events, { perSecond: bare, clients }));
  return { ...events, bare, oneStatement };
}

async function measureEventsRatio(round: Round): Promise<Partial<Figures>> {
  const { perSecond, bare } = await measureEvents(round);
  return { events_ratio: perSecond / bare };
}

async function measureBatch(round: Round): Promise<Partial<Figures>> {
  const { purser, print, seconds } = round;
  const events = await purser.measure(EVENTS, { ...round, processes: 1 });
  print(describe("events", events));
  const batch = await purser.measure(BATCH, { ...round, connections: BATCH_CONNECTIONS, processes: 1 });
  const perSecond = batch.perSecond * BATCH_EVENTS;
  const ratio = perSecond / events.perSecond;
  const bare = await purser.runBareBatches({ seconds, clients: BATCH_CLIENTS });
  print(
    `  events in batches of ${BATCH_EVENTS}: ${rate(perSecond)} (p50 ${ms(batch.p50Ms)}, p99 ${ms(batch.p99Ms)} for a batch), ` +
      `${ratio.toFixed(2)} of single events, ${(perSecond / bare).toFixed(2)} of bare inserts of ${rate(bare)}`,
  );
  return { batch_ratio: ratio, batch_bare_ratio: perSecond / bare };
}

async function measureHolds(round: Round): Promise<Partial<Figures>> {
  const { purser, print } = round;
  const options = { ...round, processes: 1 } as const;
  const consume = await purser.measure(EVERYONE, options);
  const holds = await purser.measure(HOLDS, options);
  const pairsPerSecond = holds.perSecond / 2;
  const ratio = pairsPerSecond / consume.perSecond;
  print(`${describe("consume", consume)}`);
  print(
    `  hold and settle: ${rate(pairsPerSecond)} (p99 of each call ${ms(holds.p99Ms)}), ${ratio.toFixed(2)} of consume`,
  );
  return { hold_settle_ratio: ratio, open_holds_ratio: await measureOpenHolds(round) };
}

async function measureOpenHolds(round: Round): Promise<number> {
  const { purser, print } = round;
  const options = { ...round, processes: 1 } as const;
  const free = await purser.measure(HOT, options);
  const holding = await purser.withHolds("customer_1", OPEN_HOLDS, () => purser.measure(HOT, options));
  const ratio = holding.perSecond / free.perSecond;
  print(
    `  consume by one customer: ${rate(free.perSecond)}; with ${OPEN_HOLDS} open holds: ${rate(holding.perSecond)}, ${ratio.toFixed(2)} of that`,
  );
  return ratio;
}

function measureBare({ server, seconds, print }: Round, { customers }: Load): Promise<BareCharges> {
  const name = customers === 1 ? "bare charges, one hot customer" : "bare charges";
  return runBareCharges(server, {
    seconds,
    customers,
    onEach: ({ clients, perSecond }) => print(`  ${name}, ${clients} clients: ${rate(perSecond)}`),
  });
}

function describe(name: string, measured: Measured, bare: BareCharges | null = null): string {
  const { perSecond, p50Ms, p99Ms } = measured;
  const line = `  ${name}: ${rate(perSecond)} (p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)})`;
  if (bare === null) return line;
  return `${line}, ${(perSecond / bare.perSecond).toFixed(2)} of bare with ${bare.clients} clients`;
}
