import { setTimeout as pause } from "node:timers/promises";
import { NOTICE_TYPES } from "../../service/src/entitlement/catalog.ts";
import { definePool } from "../../service/src/manage/pools/operations.ts";
import { createWebhook } from "../../service/src/manage/webhooks/change-webhook.ts";
import type { Pool } from "../../service/src/postgres/pool.ts";
import { single } from "../../service/src/postgres/transaction.ts";
import { brandAs, type ProjectId } from "../../service/src/primitives/brand.ts";
import { findScope } from "../../service/src/store/control/scopes.ts";
import { CUSTOMERS } from "../harness/calls.ts";
import { withPool } from "../harness/database.ts";
import { median, rate, rounded } from "../harness/figures.ts";
import { checkOut } from "../harness/other-tree.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import { POOL } from "../harness/project.ts";
import { THIS_TREE } from "../harness/purser.ts";
import {
  judgeRatio,
  type MedianInterval,
  medianInterval,
  NO_COST,
  type RatioBound,
  type Verdict,
  worstVerdict,
} from "./median-interval.ts";
import { type Load, type Measured, Purser } from "./purser/purser.ts";
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

/** Notices may cost up to 5%. */
const WITH_WEBHOOK: RatioBound = { min: 0.95, slowerBelow: 0.95 };

const AT_ONCE = { warmUpSeconds: 0, processes: 1 } as const;
const PAIRS_PER_CHECKPOINT = 4;

/** An idle service writes less WAL than this in half a second. */
const QUIET_BYTES = 64 * 1024;
const QUIET_SECONDS_MAX = 20;

type CompareOptions = {
  readonly parts: ReadonlySet<Compared>;
  readonly pairs: number;
  readonly seconds: number;
  readonly connections: number;
  readonly print: (line: string) => void;
  readonly stack: AsyncDisposableStack;
};

type Comparison = MedianInterval & {
  readonly verdict: Verdict;
  readonly ratios: readonly number[];
  /** The old processor time for each call, divided by the new one. Other work on the machine changes it less than the rate. */
  readonly processorTime: MedianInterval;
};

type CompareResult = {
  readonly pairs: number;
  readonly seconds: number;
  readonly verdict: Verdict;
  readonly parts: Readonly<Partial<Record<Compared, Comparison>>>;
};

type Pair = { readonly before: Measured; readonly now: Measured };

/** Compares this tree with another commit. */
export async function benchAgainst(
  revision: string,
  options: CompareOptions,
): Promise<CompareResult & { readonly commit: string }> {
  const { stack, print } = options;
  const { directory, commit } = await checkOut(revision, stack);
  const server = await openBenchServer(stack, SETTINGS);
  print(`${await server.describe()}; this tree against ${commit.slice(0, 12)}`);
  const before = await Purser.prepare(server, stack, { database: "before", tree: directory });
  const now = await Purser.prepare(server, stack, { database: "now", tree: THIS_TREE });
  return { commit, ...(await compareTwo(server, { before, now }, NO_COST, options)) };
}

/** Compares this tree with a webhook and without one. */
export async function benchWebhook(options: CompareOptions): Promise<CompareResult> {
  const { stack, print } = options;
  const server = await openBenchServer(stack, SETTINGS);
  print(`${await server.describe()}; with a webhook for all notices and two thresholds, against none`);
  const before = await Purser.prepare(server, stack, { database: "without_webhook" });
  const now = await Purser.prepare(server, stack, { database: "with_webhook" });
  await withPool(server.url("with_webhook"), addWebhook);
  return compareTwo(server, { before, now }, WITH_WEBHOOK, options);
}

type Two = { readonly before: Purser; readonly now: Purser };

/**
 * Compares two services on one server, each with its own database, loaded at the same time by the load generator of this tree, so that
 * other load on the machine affects both. When measured alternately, the same tree differed from itself by a factor of up to six. Each
 * pair has new processes, because the memory layout of a process changes its speed by up to 5%.
 */
async function compareTwo(
  server: PostgresServer,
  { before, now }: Two,
  bound: RatioBound,
  options: CompareOptions,
): Promise<CompareResult> {
  const { print, pairs } = options;
  const parts = COMPARED.filter((part) => options.parts.has(part));
  const measured = new Map<Compared, Pair[]>(parts.map((part) => [part, []]));
  for (let index = 0; index < pairs; index++) {
    await Promise.all([before.stop(), now.stop()]);
    if (index % PAIRS_PER_CHECKPOINT === 0) await recycleLog(server);
    for (const part of parts) {
      await untilQuiet(server);
      const untilStart = meetingOfTwo();
      const measure = (purser: Purser): Promise<Measured> =>
        purser.measure(LOADS[part], { ...options, ...AT_ONCE, untilStart });
      const [ours, theirs] = await Promise.all([measure(now), measure(before)]);
      const pair = { now: ours, before: theirs };
      measured.get(part)?.push(pair);
      const figures =
        `${rate(ours.perSecond)} against ${rate(theirs.perSecond)}, ratio ${ratioOf(pair).toFixed(3)}, ` +
        `of the processor time ${processorRatioOf(pair).toFixed(3)}`;
      print(`  pair ${index + 1} of ${pairs}, ${part}: ${figures}`);
    }
  }
  await Promise.all([before.checkCharges(), now.checkCharges()]);

  const compared = parts.map((part) => [part, compare(measured.get(part) ?? [], bound)] as const);
  for (const [part, comparison] of compared)
    print(describe(part, comparison, measured.get(part) ?? [], bound));
  const verdict = worstVerdict(compared.map(([, comparison]) => comparison.verdict));
  if (verdict === "cannot tell") {
    print("cannot tell: the interval is too wide. Use a quieter machine, or more --pairs.");
  }
  return { pairs, seconds: options.seconds, verdict, parts: Object.fromEntries(compared) };
}

/** The charges of the load cross no threshold, so nothing is sent. */
async function addWebhook(pool: Pool): Promise<void> {
  const projectId = brandAs<ProjectId>(1);
  const live = await single(pool, (tx) => findScope(tx, { workspaceId: 1, projectId, environment: "live" }));
  if (live === null) throw new Error("the first project has no live environment");
  const actor = { kind: "command", id: null, requestId: null } as const;
  const context = { projectId, environmentId: live.environmentId, actor };
  await definePool(pool, context, { key: POOL, name: POOL, lowBalances: [100, 20] });
  const url = "https://webhooks.example.com/purser";
  await createWebhook(pool, context, { url, description: null, types: NOTICE_TYPES });
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

function compare(pairs: readonly Pair[], bound: RatioBound): Comparison {
  const ratios = pairs.map(ratioOf);
  const interval = medianInterval(ratios);
  return {
    ...interval,
    verdict: judgeRatio(interval, bound),
    ratios: ratios.map((ratio) => Number(ratio.toFixed(4))),
    processorTime: medianInterval(pairs.map(processorRatioOf)),
  };
}

function ratioOf({ now, before }: Pair): number {
  return now.perSecond / before.perSecond;
}

function processorRatioOf({ now, before }: Pair): number {
  return before.processorMicrosPerCall / now.processorMicrosPerCall;
}

function describe(
  part: Compared,
  comparison: Comparison,
  pairs: readonly Pair[],
  { min }: RatioBound,
): string {
  const { lower, upper, coverage, verdict, processorTime } = comparison;
  const medians = (figure: "perSecond" | "processorMicrosPerCall"): [now: number, before: number] => [
    median(pairs.map(({ now }) => now[figure])),
    median(pairs.map(({ before }) => before[figure])),
  ];
  const rates = medians("perSecond").map(rate);
  const micros = medians("processorMicrosPerCall").map(rounded);
  const side = verdict === "not slower" ? "at least" : "below";
  return (
    `${part}: ${verdict}. ${rates.join(" against ")}, median ratio ${comparison.median.toFixed(3)}, ` +
    `${(coverage * 100).toFixed(1)} % interval ${lower.toFixed(3)} to ${upper.toFixed(3)}, lower end ${side} ${min}. ` +
    `Processor time per call: ${micros.join(" against ")} µs, median ratio ` +
    `${processorTime.median.toFixed(3)}, interval ${processorTime.lower.toFixed(3)} to ${processorTime.upper.toFixed(3)}`
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
