import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TestDatabase } from "./harness.ts";
import type { Answer, Question } from "./measured-service-main.ts";

export type MeasuredService = {
  readonly url: string;
  /** Processor time that the service's process has used so far, in microseconds. */
  cpuMicros(): Promise<number>;
  /** Processor time of one `JSON.parse` of this text in the service's process, in microseconds. */
  parseMicros(text: string): Promise<number>;
};

/** Starts the service in a separate process that reports its processor time. */
export async function startMeasuredService(database: TestDatabase): Promise<MeasuredService> {
  const child = fork(join(import.meta.dirname, "measured-service-main.ts"), {
    env: {
      DATABASE_URL: database.serviceUrl,
      PORT: "0",
      METRICS_PORT: "0",
      LOG_LEVEL: "silent",
      // Lets each call use another address, so that limits per address do not stop a measurement.
      TRUST_PROXY: "127.0.0.1",
    },
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  });
  const ask = async (question: Question): Promise<Answer> => {
    child.send(question);
    const [answer] = (await once(child, "message")) as [Answer];
    return answer;
  };
  const [ready] = (await once(child, "message")) as [{ url: string }];
  return {
    url: ready.url,
    cpuMicros: async () => (await ask({ kind: "cpu" })).micros,
    parseMicros: async (text) => (await ask({ kind: "parse", text })).micros,
  };
}
