import { ms, rate } from "../harness/figures.ts";
import { CUSTOMERS } from "../harness/load/calls.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import { type BareCharges, runBareCharges } from "./bare/charges.ts";
import { type BenchOptions, runEventsRound } from "./events.ts";
import type { Load, Measured, Purser } from "./purser/purser.ts";

export const PARTS = ["consume", "two", "hot", "check", "events"] as const;
export type Part = (typeof PARTS)[number];

export type Figures = {
  /** Charges over 100,000 customers against bare PostgreSQL at its best. */
  readonly consume_ratio: number;
  /** The same, all on one customer. */
  readonly hot_ratio: number;
  /** Charges through two API processes against one. */
  readonly two_process_ratio: number;
  readonly check_per_s: number;
  readonly consume_per_s: number;
  readonly events_ratio: number;
  /** At half of consume_per_s, by an open loop. */
  readonly consume_p99_half_ms: number;
  /** Growth of all tables and indexes. */
  readonly bytes_per_consume: number;
};

type RoundOptions = Pick<BenchOptions, "seconds" | "connections" | "print"> & {
  readonly server: PostgresServer;
  readonly purser: Purser;
  readonly parts: ReadonlySet<Part>;
};

const EVERYONE: Load = { call: "consume", customers: CUSTOMERS };
const HOT: Load = { call: "consume", customers: 1 };
const CHECK: Load = { call: "check", customers: CUSTOMERS };

/** What is compared stands side by side, so that a noisy neighbour hits both alike. */
export async function runCreditsRound(options: RoundOptions): Promise<Partial<Figures>> {
  const { parts } = options;
  return {
    ...(parts.has("consume") || parts.has("two") ? await runConsume(options) : {}),
    ...(parts.has("hot") ? await runHot(options) : {}),
    ...(parts.has("check") ? await runCheck(options) : {}),
    ...(parts.has("events") ? await runEvents(options) : {}),
  };
}

/** Two processes are measured against one: that one is measured even if it was not asked for. */
async function runConsume(options: RoundOptions): Promise<Partial<Figures>> {
  const { parts, purser, print, seconds } = options;
  const bare = parts.has("consume") ? await runBare(options, EVERYONE) : null;
  const consume = await purser.measure(EVERYONE, { ...options, processes: 1 });
  print(describe("consume", consume, bare));
  print(`  stored per consume: ${consume.storedBytesPerCall.toFixed(0)} bytes of tables and indexes`);
  print(`  written per consume: ${consume.walBytesPerCall.toFixed(0)} bytes of WAL`);
  const two = parts.has("two") ? await runTwo(options, consume) : {};
  if (bare === null) return two;

  const perSecond = Math.round(consume.perSecond / 2);
  const half = await purser.measureAtRate(EVERYONE, { seconds, perSecond });
  print(
    `  consume at half that rate, ${rate(perSecond)}: p50 ${ms(half.p50Ms)}, p99 ${ms(half.p99Ms)} ` +
      `(the generator itself late by ${ms(half.lateP99Ms)} at p99)`,
  );
  return {
    ...two,
    consume_ratio: consume.perSecond / bare.perSecond,
    consume_per_s: consume.perSecond,
    consume_p99_half_ms: half.p99Ms,
    bytes_per_consume: consume.storedBytesPerCall,
  };
}

async function runTwo(options: RoundOptions, one: Measured): Promise<Partial<Figures>> {
  const two = await options.purser.measure(EVERYONE, { ...options, processes: 2 });
  const ratio = two.perSecond / one.perSecond;
  options.print(`${describe("consume, two processes", two)}, ${ratio.toFixed(2)} of one process`);
  return { two_process_ratio: ratio };
}

async function runHot(options: RoundOptions): Promise<Partial<Figures>> {
  const bare = await runBare(options, HOT);
  const hot = await options.purser.measure(HOT, { ...options, processes: 1 });
  options.print(describe("consume, one hot customer", hot, bare));
  return { hot_ratio: hot.perSecond / bare.perSecond };
}

async function runCheck(options: RoundOptions): Promise<Partial<Figures>> {
  const check = await options.purser.measure(CHECK, { ...options, processes: 1 });
  options.print(describe("check", check));
  return { check_per_s: check.perSecond };
}

async function runEvents(options: RoundOptions): Promise<Partial<Figures>> {
  const { bare, perSecond } = await runEventsRound(options.server, options.purser, options);
  return { events_ratio: perSecond / bare };
}

function runBare({ server, seconds, print }: RoundOptions, { customers }: Load): Promise<BareCharges> {
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
