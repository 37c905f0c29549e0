import { median, rounded } from "../harness/figures.ts";
import { prepareBareCharges } from "./bare/charges.ts";
import { prepareBareEvents } from "./bare/events.ts";
import { type Figures, PARTS, type Part, runCreditsRound } from "./credits-round.ts";
import type { BenchOptions } from "./events.ts";
import { Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

/** What was not measured is null. */
export type CreditsBenchResult = Readonly<Record<keyof Figures, number | null>>;

/** Charges, checks and events over HTTP beside bare PostgreSQL, all on one server in one run, in turns. */
export async function benchCredits(
  options: BenchOptions & { readonly parts: ReadonlySet<Part> },
): Promise<CreditsBenchResult> {
  const { parts, print, stack } = options;
  const server = await openBenchServer(stack);
  print(await server.describe());
  if (parts.has("consume") || parts.has("hot")) await prepareBareCharges(server);
  if (parts.has("events")) await prepareBareEvents(server);
  const purser = await Purser.prepare(server, stack);
  const rounds: Partial<Figures>[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    print(`round ${round}`);
    await recycleLog(server);
    rounds.push(await runCreditsRound({ ...options, server, purser }));
  }
  await purser.checkCharges();
  // Minutes, after which the figures are the same: not while somebody tunes one of the parts.
  if (PARTS.every((part) => parts.has(part))) await purser.verify();

  const medianOf = (figure: keyof Figures, round: (value: number) => number): number | null => {
    const values = rounds.flatMap((figures) => figures[figure] ?? []);
    return values.length === 0 ? null : round(median(values));
  };
  return {
    consume_ratio: medianOf("consume_ratio", rounded),
    hot_ratio: medianOf("hot_ratio", rounded),
    two_process_ratio: medianOf("two_process_ratio", rounded),
    check_per_s: medianOf("check_per_s", Math.round),
    consume_per_s: medianOf("consume_per_s", Math.round),
    events_ratio: medianOf("events_ratio", rounded),
    consume_p99_half_ms: medianOf("consume_p99_half_ms", rounded),
    bytes_per_consume: medianOf("bytes_per_consume", Math.round),
  };
}
