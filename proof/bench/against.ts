import { setTimeout as pause } from "node:timers/promises";
import { CUSTOMERS } from "../harness/calls.ts";
import { median, rate } from "../harness/figures.ts";
import { checkOut } from "../harness/other-tree.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import { THIS_TREE } from "../harness/purser.ts";
import {
  judgeRatio,
  type MedianInterval,
  medianInterval,
  RATIO_MIN,
  type Verdict,
  worstVerdict,
} from "./median-interval.ts";
import { type Load, Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

export const COMPARED = ["consume", "check", "events", "hot"] as const;
export type Compared = (typeof COMPARED)[number];

const LOADS: Readonly<Record<Compared, Load>> = {
  consume: { call: "consume", customers: CUSTOMERS },
  check: { call: "check", customers: CUSTOMERS },
  events: { call: "events", customers: CUSTOMERS },
  hot: { call: "consume", customers: 1 },
};

/** Checkpoints and vacuum could slow down one tree more than the other. So checkpoints run between pairs, and vacuum is off. */
const SETTINGS = ["autovacuum=off", "checkpoint_timeout=1h"];

const AT_ONCE = { warmUpSeconds: 0, processes: 1 } as const;
const PAIRS_PER_CHECKPOINT = 4;

/** An idle service writes less WAL than this in half a second. */
const QUIET_BYTES = 64 * 1024;
const QUIET_SECONDS_MAX = 20;

type AgainstOptions = {
  readonly revision: string;
  readonly parts: ReadonlySet<Compared>;
  readonly pairs: number;
  readonly seconds: number;
  readonly connections: number;
  readonly print: (line: string) => void;
  readonly stack: AsyncDisposableStack;
};

type Comparison = MedianInterval & { readonly verdict: Verdict; readonly ratios: readonly number[] };

type AgainstResult = {
  readonly commit: string;
  readonly pairs: number;
  readonly seconds: number;
  readonly verdict: Verdict;
  readonly parts: Readonly<Partial<Record<Compared, Comparison>>>;
};

type Pair = { readonly before: number; readonly now: number };

/**
 * Compares this tree with another commit: two services on one server, each with its own database, loaded at the same time by
 * the load generator of this tree, so that other load on the machine affects both. When measured
 * alternately, the same tree differed from itself by a factor of up to six. Each pair has new processes, because the memory layout of a
 * process changes its speed by up to 5%.
 */
export async function benchAgainst(options: AgainstOptions): Promise<AgainstResult> {
  const { stack, print, pairs } = options;
  const { directory, commit } = await checkOut(options.revision, stack);
  const server = await openBenchServer(stack, SETTINGS);
  print(`${await server.describe()}; this tree against ${commit.slice(0, 12)}`);
  const before = await Purser.prepare(server, stack, { database: "before", tree: directory });
  const now = await Purser.prepare(server, stack, { database: "now", tree: THIS_TREE });
  const parts = COMPARED.filter((part) => options.parts.has(part));
  const measured = new Map<Compared, Pair[]>(parts.map((part) => [part, []]));

  for (let index = 0; index < pairs; index++) {
    await Promise.all([before.stop(), now.stop()]);
    if (index % PAIRS_PER_CHECKPOINT === 0) await recycleLog(server);
    for (const part of parts) {
      await untilQuiet(server);
      const untilStart = meetingOfTwo();
      const perSecond = async (purser: Purser): Promise<number> =>
        (await purser.measure(LOADS[part], { ...options, ...AT_ONCE, untilStart })).perSecond;
      const [ours, theirs] = await Promise.all([perSecond(now), perSecond(before)]);
      const pair = { now: ours, before: theirs };
      measured.get(part)?.push(pair);
      const figures = `${rate(pair.now)} against ${rate(pair.before)}, ratio ${ratioOf(pair).toFixed(3)}`;
      print(`  pair ${index + 1} of ${pairs}, ${part}: ${figures}`);
    }
  }
  await Promise.all([before.checkCharges(), now.checkCharges()]);

  const compared = parts.map((part) => [part, compare(measured.get(part) ?? [])] as const);
  for (const [part, comparison] of compared) print(describe(part, comparison, measured.get(part) ?? []));
  const verdict = worstVerdict(compared.map(([, comparison]) => comparison.verdict));
  if (verdict === "cannot tell") {
    print("cannot tell: the interval is too wide. Use a quieter machine, or more --pairs.");
  }
  return { commit, pairs, seconds: options.seconds, verdict, parts: Object.fromEntries(compared) };
}

/** Returns a function whose promises resolve when both callers have called it. */
function meetingOfTwo(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = 2;
  return () => {
    missing -= 1;
    if (missing === 0) resolve();
    return promise;
  };
}

function compare(pairs: readonly Pair[]): Comparison {
  const ratios = pairs.map(ratioOf);
  const interval = medianInterval(ratios);
  return {
    ...interval,
    verdict: judgeRatio(interval),
    ratios: ratios.map((ratio) => Number(ratio.toFixed(4))),
  };
}

function ratioOf({ now, before }: Pair): number {
  return now / before;
}

function describe(part: Compared, comparison: Comparison, pairs: readonly Pair[]): string {
  const { lower, upper, coverage, verdict } = comparison;
  const rates = [pairs.map((pair) => pair.now), pairs.map((pair) => pair.before)].map((all) =>
    rate(median(all)),
  );
  const bound = verdict === "not slower" ? "at least" : "below";
  return (
    `${part}: ${verdict}. ${rates.join(" against ")}, median ratio ${comparison.median.toFixed(3)}, ` +
    `${(coverage * 100).toFixed(1)} % interval ${lower.toFixed(3)} to ${upper.toFixed(3)}, lower end ${bound} ${RATIO_MIN}`
  );
}

/** Waits until the last load is rolled up, so that the roll-ups do not slow down the next load. */
async function untilQuiet(server: PostgresServer): Promise<void> {
  for (let attempt = 0; attempt < 2 * QUIET_SECONDS_MAX; attempt++) {
    const start = await logPosition(server);
    await pause(500);
    if ((await logPosition(server)) - start < QUIET_BYTES) return;
  }
  throw new Error(`the server is still writing ${QUIET_SECONDS_MAX} s after the last load`);
}

async function logPosition(server: PostgresServer): Promise<number> {
  const [row = {}] = await server.query(
    "postgres",
    "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes",
  );
  return Number(row["bytes"]);
}
