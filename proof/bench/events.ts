import { prepareBare, runBare } from "./bare.ts";
import { preparePurser } from "./purser.ts";
import { openBenchServer } from "./server.ts";

export type EventsBenchOptions = {
  seconds: number;
  rounds: number;
  connections: number;
  print: (line: string) => void;
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

/** In turns, so that a noisy neighbour hits all sides alike; rows are counted after each turn. */
export async function benchEvents(options: EventsBenchOptions): Promise<EventsBenchResult> {
  const server = await openBenchServer();
  try {
    await prepareBare(server);
    const purser = await preparePurser(server);
    try {
      const rounds = [];
      for (let round = 1; round <= options.rounds; round++) {
        const bare = await runBare(server, "transaction", options);
        const oneStatement = await runBare(server, "one-statement", options);
        const events = await purser.run(options);
        options.print(
          `round ${round}: Purser ${events.perSecond.toFixed(0)}/s (p99 ${events.p99Ms.toFixed(1)} ms), ` +
            `bare ${bare.toFixed(0)}/s, bare in one statement ${oneStatement.toFixed(0)}/s`,
        );
        rounds.push({ bare, oneStatement, ...events });
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
    } finally {
      await purser.stop();
    }
  } finally {
    await server.stop();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
