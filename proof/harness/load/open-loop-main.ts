import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "./connection.ts";
import type { OpenLoopOptions, OpenLoopResult } from "./open-loop.ts";

/** Longer than the service lets anything wait. */
const SETTLE_SECONDS_MAX = 10;

/**
 * Calls set out at a fixed rate whatever became of those before them, as those of independent users do, and each is
 * timed from when it was meant to set out: a pause of the service delays all that would have come during it, and counts.
 */
async function runLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { call, perSecond, warmUpSeconds } = options;
  const total = Math.round(perSecond * (warmUpSeconds + options.seconds));
  const firstMeasured = Math.round(perSecond * warmUpSeconds);
  const latencies = new Float64Array(total - firstMeasured);
  const lateness = new Float64Array(total - firstMeasured);
  const { hostname, port } = new URL(options.url);
  const idle = await Promise.all(
    Array.from({ length: options.connections }, () =>
      Connection.open({ host: hostname, port: Number(port) }),
    ),
  );
  const connections = [...idle];
  let arrived = 0;
  let started = 0;
  let answered = 0;
  let errors = 0;

  const startMs = performance.now() + 100;
  const dueAtMs = (index: number): number => startMs + (index * 1_000) / perSecond;
  const startWaiting = (): void => {
    // In turns: one that never sent anything would be closed by the service after its time for headers.
    while (started < arrived) {
      const connection = idle.shift();
      if (connection === undefined) return;
      start(connection, started++);
    }
  };
  const start = (connection: Connection, index: number): void => {
    connection.send(requestOf(options, index), (answer) => {
      answered += 1;
      if (call.proof !== null ? !answer.includes(call.proof) : !answer.startsWith("HTTP/1.1 200"))
        errors += 1;
      if (index >= firstMeasured) latencies[index - firstMeasured] = performance.now() - dueAtMs(index);
      idle.push(connection);
      startWaiting();
    });
  };

  while (arrived < total) {
    for (const nowMs = performance.now(); arrived < total && dueAtMs(arrived) <= nowMs; arrived++) {
      if (arrived >= firstMeasured) lateness[arrived - firstMeasured] = nowMs - dueAtMs(arrived);
    }
    startWaiting();
    await pause(1);
  }
  const giveUpAtMs = performance.now() + SETTLE_SECONDS_MAX * 1_000;
  while (answered < total && performance.now() < giveUpAtMs) await pause(10);
  for (const connection of connections) connection.close();
  latencies.sort();
  lateness.sort();
  return {
    sent: total,
    errors: errors + (total - answered),
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    lateP99Ms: percentile(lateness, 99),
  };
}

function requestOf(options: OpenLoopOptions, index: number): string {
  const customer = 1 + Math.floor(Math.random() * options.customers);
  const body = options.call.body
    .replace("%d", String(customer))
    .replace("%s", `${options.keyPrefix}${index}`);
  return (
    `POST ${options.call.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${options.apiKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

console.log(JSON.stringify(await runLoop(JSON.parse(await text(process.stdin)))));
