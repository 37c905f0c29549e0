import { execFileSync } from "node:child_process";
import type { Verdict } from "../faults/check/violation.ts";
import type { Call } from "../faults/history.ts";
import { describeReport } from "../faults/report.ts";
import { judge, prepareDatabase, type Running, startRun } from "../faults/run.ts";
import { startVerify } from "../harness/purser.ts";
import { Cluster } from "./cluster.ts";
import { FAULTS, type Fault, type FaultName, inject } from "./inject.ts";
import { Probe } from "./probe.ts";

/** Slower than in `npm run faults`, because a part lasts ten times as long and its history is kept in memory. */
const PACE = { thinkMsMax: 200, backOffMs: { min: 200, max: 800 } };
/** Client timeout. Longer than the service waits for a commit on a standby. */
const TIMEOUT_MS = 10_000;
/** Number of acknowledged requests to send again, to the last leader. */
const REPLAYS = 10_000;

/** The result of a run. Times are milliseconds. */
export type Part = {
  readonly startedAt: string;
  /** The commit that was checked out, with a mark if the working tree had changes. */
  readonly commit: string;
  readonly verdict: Verdict;
  readonly faults: readonly {
    readonly name: FaultName;
    /** The longest time without an acknowledged write at one of the services. */
    readonly refusedMs: number;
    /** The longest time without a write by the client that writes to PostgreSQL directly. */
    readonly bareMs: number;
    readonly promotedMs: number | null;
    readonly interrupted: number;
  }[];
  readonly acknowledged: number;
  readonly replays: number;
  readonly violations: readonly string[];
  readonly doubts: readonly string[];
};

export async function runPart({
  minutes,
  only,
  historyFile,
  stack,
}: {
  readonly minutes: number;
  readonly only: readonly string[] | null;
  readonly historyFile: string;
  readonly stack: AsyncDisposableStack;
}): Promise<Part> {
  const startedAt = new Date().toISOString();
  const endMs = performance.now() + minutes * 60_000;
  const names = chooseFaults(only);
  const cluster = await Cluster.start(stack);
  const prepared = await prepareDatabase((database, role) => cluster.url(database, role));
  const running = await startRun(prepared, { historyFile, stack, pace: PACE, timeoutMs: TIMEOUT_MS });
  const { services, history, ownerUrl } = running;
  const probe = await Probe.start(cluster.url("postgres"), stack);
  const faults: Fault[] = [];
  const doubts: string[] = [];
  try {
    while (performance.now() < endMs && services.every(({ isAlive }) => isAlive)) {
      const name = names[faults.length % names.length];
      if (name === undefined) break;
      const fault = await inject(cluster, history, services, name);
      faults.push(fault);
      doubts.push(...fault.doubts.map((doubt) => `${name}: ${doubt}`));
      console.log(describeFault(fault, running, probe));
    }
  } catch (error) {
    doubts.push(String(error));
  }
  const missing = names.filter((name) => faults.every((fault) => fault.name !== name));
  if (missing.length > 0) doubts.push(`not injected: ${missing.join(", ")}`);
  const report = await judge(running, { replays: REPLAYS, doubts });
  console.log(describeReport(report));
  const usage = await startVerify(ownerUrl, ["--usage"]).ended;
  const wrong = usage.code === 0 ? [] : [`purser verify --usage: ${usage.output}`];
  const { calls, violations, verdict } = report;
  return {
    startedAt,
    commit: execFileSync("git", ["describe", "--always", "--dirty", "--abbrev=12"], {
      encoding: "utf8",
    }).trim(),
    verdict: wrong.length > 0 && verdict === "pass" ? "fail" : verdict,
    faults: faults.map((fault) => ({
      name: fault.name,
      refusedMs: Math.round(refusedFor(calls, services, fault)),
      bareMs: Math.round(longestGap(probe.writtenAtMs, fault)),
      promotedMs: fault.promotedMs === null ? null : Math.round(fault.promotedMs),
      interrupted: fault.interrupted,
    })),
    acknowledged: calls.filter(isAcknowledgedWrite).length,
    replays: calls.filter(({ outcome }) => outcome.kind === "ok" && outcome.isReplay).length,
    violations: [...violations.map(({ invariant, text }) => `${invariant} ${text}`), ...wrong].slice(0, 50),
    doubts: report.doubts,
  };
}

function chooseFaults(only: readonly string[] | null): FaultName[] {
  const known = Object.keys(FAULTS) as FaultName[];
  const unknown = only?.find((name) => !known.some((other) => other === name));
  if (unknown !== undefined) throw new Error(`there is no fault "${unknown}": ${known.join(", ")}`);
  return only === null ? known : known.filter((name) => only.includes(name));
}

function describeFault(fault: Fault, { history, services }: Running, { writtenAtMs }: Probe): string {
  const refused = `refused ${seconds(refusedFor(history.calls, services, fault))}`;
  const bare = `without Purser ${seconds(longestGap(writtenAtMs, fault))}`;
  const promoted =
    fault.promotedMs === null ? "same leader" : `new leader after ${seconds(fault.promotedMs)}`;
  const interrupted = fault.interrupted === 0 ? "" : `, ${fault.interrupted} waits interrupted`;
  return `${fault.name.padEnd(26)}${refused}, ${bare}, ${promoted}${interrupted}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function isAcknowledgedWrite({ request, outcome }: Call): boolean {
  return outcome.kind === "ok" && request.endpoint !== "check";
}

/** The longest time during the fault without an acknowledged write at one of the services. */
function refusedFor(
  calls: readonly Call[],
  services: readonly { readonly name: string }[],
  fault: Fault,
): number {
  const gaps = services.map(({ name }) => {
    const ends = calls.filter((call) => call.service === name && isAcknowledgedWrite(call));
    return longestGap(
      ends.map(({ endMs }) => endMs).sort((a, b) => a - b),
      fault,
    );
  });
  return Math.max(...gaps);
}

/** The longest interval between two consecutive times that overlaps the fault. */
function longestGap(timesMs: readonly number[], { startMs, endMs }: Fault): number {
  const until = timesMs.findIndex((at) => at > endMs);
  const all = until < 0 ? [...timesMs, performance.now()] : timesMs.slice(0, until + 1);
  const from = all.findLastIndex((at) => at < startMs);
  const within = all.slice(Math.max(0, from));
  return within.reduce((longest, at, index) => Math.max(longest, at - (within[index - 1] ?? at)), 0);
}
