import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../harness/figures.ts";
import { CALLS } from "../harness/load/calls.ts";
import { runOpenLoop } from "../harness/load/open-loop.ts";
import type { Project } from "../harness/project.ts";
import type { Service } from "../harness/purser.ts";

const AT_ONCE = 50;
/** Denied ones count too. */
const CHECK = { ...CALLS.check, proof: '"allowed":' };

export type StormResult = {
  readonly withoutP99Ms: number;
  readonly besideP99Ms: number;
  /** How the guesses were answered: 401 those that were compared, 429 those that were not. */
  readonly answers: Readonly<Record<number, number>>;
};

type Options = {
  readonly service: Service;
  readonly project: Project;
  readonly customers: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly rounds: number;
};

/** Checks at a fixed rate, without and beside fifty guessers of passwords, in turns. */
export async function measureLogInStorm(options: Options): Promise<StormResult> {
  const without: number[] = [];
  const beside: number[] = [];
  const answers: Record<number, number> = {};
  await check(options);
  for (let round = 0; round < options.rounds; round++) {
    without.push(await check(options));
    const storm = startStorm(options.service, answers);
    beside.push(await check(options));
    await storm.stop();
  }
  return { withoutP99Ms: median(without), besideP99Ms: median(beside), answers };
}

async function check({ service, project, customers, perSecond, seconds }: Options): Promise<number> {
  const { errors, p99Ms } = await runOpenLoop({
    url: service.url,
    apiKey: project.apiKey,
    call: CHECK,
    customers: customers - 1,
    perSecond,
    warmUpSeconds: 1,
    seconds,
    connections: 64,
    keyPrefix: "",
  });
  if (errors > 0) throw new Error(`${errors} checks failed`);
  return p99Ms;
}

/**
 * Fifty who guess at the same time, each from another address and each time for another email: what a guard by those does
 * not stop at once. Who is told to come later comes then.
 */
function startStorm(service: Service, answers: Record<number, number>): { stop(): Promise<void> } {
  const end = new AbortController();
  const guessOn = async (_: unknown, index: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, localAddress: `127.0.0.${index + 2}` });
    while (!end.signal.aborted) {
      const { status, waitSeconds } = await guess(service, agent);
      answers[status] = (answers[status] ?? 0) + 1;
      // Not all in the same moment again.
      const waitMs = waitSeconds * 1_000 * (1 + Math.random());
      await pause(waitMs, null, { signal: end.signal }).catch(() => {});
    }
    agent.destroy();
  };
  const raging = Promise.all(Array.from({ length: AT_ONCE }, guessOn));
  return {
    stop: async () => {
      end.abort();
      await raging;
    },
  };
}

function guess({ url }: Service, agent: Agent): Promise<{ status: number; waitSeconds: number }> {
  const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password: "a wrong password" });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/manage/v1/session`, { method: "POST", agent, headers }, (reply) => {
      const { statusCode: status = 0, headers } = reply;
      const waitSeconds = Number(headers["retry-after"] ?? 0);
      reply.resume().on("end", () => resolve({ status, waitSeconds }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
