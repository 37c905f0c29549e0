import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { median } from "../bench/figures.ts";
import { FEATURE } from "../bench/load/calls.ts";
import { runOpenLoop } from "../bench/load/open-loop.ts";
import { pause } from "./server.ts";
import type { Service } from "./service.ts";
import type { Shop } from "./shop.ts";

const AT_ONCE = 50;
const EVERY_MS = 1_000;
const CHECK = {
  path: "/v1/check",
  body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1}`,
  proof: '"allowed":',
};

export type StormResult = {
  readonly withoutP99Ms: number;
  readonly besideP99Ms: number;
  /** How the guesses were answered: 401 those that were compared, 429 those that were not. */
  readonly answers: Readonly<Record<number, number>>;
};

type Options = {
  readonly service: Service;
  readonly shop: Shop;
  readonly customers: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly rounds: number;
};

/** Checks at a fixed rate, without and beside fifty wrong passwords at once every second, in turns. */
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

async function check({ service, shop, customers, perSecond, seconds }: Options): Promise<number> {
  const { errors, p99Ms } = await runOpenLoop({
    url: service.url,
    apiKey: shop.apiKey,
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

/** Each guess for another email and each of the fifty from another address: what a guard by those would not stop. */
function startStorm(service: Service, answers: Record<number, number>): { stop(): Promise<void> } {
  let isRaging = true;
  const agents = Array.from(
    { length: AT_ONCE },
    (_, i) => new Agent({ keepAlive: true, localAddress: `127.0.0.${i + 2}` }),
  );
  const raging = (async () => {
    while (isRaging) {
      const startMs = performance.now();
      const statuses = await Promise.all(agents.map((agent) => guess(service, agent)));
      for (const status of statuses) answers[status] = (answers[status] ?? 0) + 1;
      await pause(Math.max(0, startMs + EVERY_MS - performance.now()));
    }
    for (const agent of agents) agent.destroy();
  })();
  return {
    stop: () => {
      isRaging = false;
      return raging;
    },
  };
}

function guess({ url }: Service, agent: Agent): Promise<number> {
  const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password: "a wrong password" });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/manage/v1/session`, { method: "POST", agent, headers }, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
