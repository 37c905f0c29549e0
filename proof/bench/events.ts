import { median, ms, rate, rounded } from "../harness/figures.ts";
import { CUSTOMERS } from "../harness/load/calls.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import { prepareBareEvents, runBareEvents } from "./bare/events.ts";
import { Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

export type BenchOptions = {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly print: (line: string) => void;
  /** What was started, in the order in which it is stopped. */
  readonly stack: AsyncDisposableStack;
};

export type EventsBenchResult = {
  events_per_s: number;
  bare_per_s: number;
  /** Events over HTTP against begin, insert, insert, commit: the transaction an application writes by hand. */
  ratio: number;
  p99_ms: number;
  /** The same two inserts folded into a single statement: the least that PostgreSQL can be asked to do. */
  bare_one_statement_per_s: number;
  ratio_one_statement: number;
  rounds: number;
};

/** Events alone. */
export async function benchEvents(options: BenchOptions): Promise<EventsBenchResult> {
  const server = await openBenchServer(options.stack);
  options.print(await server.describe());
  await prepareBareEvents(server);
  const purser = await Purser.prepare(server, options.stack);
  const rounds: EventsRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    options.print(`round ${round}`);
    await recycleLog(server);
    rounds.push(await runEventsRound(server, purser, options));
  }
  return {
    events_per_s: Math.round(median(rounds.map((round) => round.perSecond))),
    bare_per_s: Math.round(median(rounds.map((round) => round.bare))),
    ratio: rounded(median(rounds.map((round) => round.perSecond / round.bare))),
    p99_ms: rounded(median(rounds.map((round) => round.p99Ms))),
    bare_one_statement_per_s: Math.round(median(rounds.map((round) => round.oneStatement))),
    ratio_one_statement: rounded(median(rounds.map((round) => round.perSecond / round.oneStatement))),
    rounds: rounds.length,
  };
}

export type EventsRound = {
  readonly bare: number;
  readonly oneStatement: number;
  readonly perSecond: number;
  readonly p99Ms: number;
};

/** In turns, so that a noisy neighbour hits all sides alike; rows are counted after each turn. */
export async function runEventsRound(
  server: PostgresServer,
  purser: Purser,
  options: Pick<BenchOptions, "seconds" | "connections" | "print">,
): Promise<EventsRound> {
  const { seconds, connections, print } = options;
  const clients = connections;
  const bare = await runBareEvents(server, "event-transaction", { seconds, clients });
  print(`  bare events, ${clients} clients: ${rate(bare)}`);
  const oneStatement = await runBareEvents(server, "event-one-statement", { seconds, clients });
  print(`  bare events in one statement, ${clients} clients: ${rate(oneStatement)}`);
  const load = { call: "events", customers: CUSTOMERS } as const;
  const { perSecond, p50Ms, p99Ms } = await purser.measure(load, { seconds, connections, processes: 1 });
  print(
    `  events: ${rate(perSecond)} (p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}), ${(perSecond / bare).toFixed(2)} of bare`,
  );
  return { bare, oneStatement, perSecond, p99Ms };
}
