import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { ANY_CHECK } from "../harness/calls.ts";
import { median } from "../harness/figures.ts";
import { measureBeside, runOpenLoop } from "../harness/open-loop.ts";
import type { Project } from "../harness/project.ts";
import type { Service } from "../harness/purser.ts";

const AT_ONCE = 50;

export type StormResult = {
  readonly withoutP99Ms: number;
  readonly besideP99Ms: number;
  /** Number of login attempts by status: 401 if the password was checked, 429 if not. */
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

/** Measures checks at a fixed rate, alternately with and without fifty clients that guess passwords. */
export async function measureLogInStorm(options: Options): Promise<StormResult> {
  const answers: Record<number, number> = {};
  await check(options);
  const { alone, beside } = await measureBeside(
    options.rounds,
    () => check(options),
    async () => startStorm(options.service, answers),
  );
  return { withoutP99Ms: median(alone), besideP99Ms: median(beside), answers };
}

async function check({ service, project, customers, perSecond, seconds }: Options): Promise<number> {
  const { errors, p99Ms } = await runOpenLoop({
    ...{ url: service.url, apiKey: project.apiKey, call: ANY_CHECK, customers: customers - 1 },
    ...{ perSecond, warmUpSeconds: 1, seconds, connections: 64 },
  });
  if (errors > 0) throw new Error(`${errors} checks failed`);
  return p99Ms;
}

/**
 * Each client has its own address and uses another email for each attempt, so that throttling by address or email does not
 * stop it immediately. It respects Retry-After.
 */
function startStorm(service: Service, answers: Record<number, number>): { stop(): Promise<void> } {
  const end = new AbortController();
  const guessUntilEnd = async (_: unknown, index: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, localAddress: `127.0.0.${index + 2}` });
    while (!end.signal.aborted) {
      const { status, waitSeconds } = await guess(service, agent);
      answers[status] = (answers[status] ?? 0) + 1;
      // The random part prevents all clients from retrying at the same time.
      const waitMs = waitSeconds * 1_000 * (1 + Math.random());
      await pause(waitMs, null, { signal: end.signal }).catch(() => {});
    }
    agent.destroy();
  };
  const clients = Promise.all(Array.from({ length: AT_ONCE }, guessUntilEnd));
  return {
    stop: async () => {
      end.abort();
      await clients;
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
