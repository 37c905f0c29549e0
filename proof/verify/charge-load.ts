import { Agent, request } from "node:http";
import { CALLS } from "../bench/load/calls.ts";

export type ChargeLoad = {
  readonly url: string;
  readonly apiKey: string;
  readonly customers: number;
  readonly perSecond: number;
  /** Sent at the same rate and not measured. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly keyPrefix: string;
};

/**
 * Charges of random customers at a fixed rate, whatever became of those before, each timed from when it was due.
 * Connections are opened as they are needed: at a moderate rate few are. Returns the 99th percentile.
 */
export async function measureCharges(load: ChargeLoad): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const total = Math.round(load.perSecond * (load.warmUpSeconds + load.seconds));
  const firstMeasured = Math.round(load.perSecond * load.warmUpSeconds);
  const startMs = performance.now();
  const under: Promise<number>[] = [];
  while (under.length < total) {
    const due = ((performance.now() - startMs) * load.perSecond) / 1_000;
    while (under.length < Math.min(due, total)) {
      const dueMs = startMs + (under.length * 1_000) / load.perSecond;
      under.push(charge(load, agent, under.length).then(() => performance.now() - dueMs));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const latencies = (await Promise.all(under)).slice(firstMeasured).sort((a, b) => a - b);
  agent.destroy();
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

function charge(
  { url, apiKey, customers, keyPrefix }: ChargeLoad,
  agent: Agent,
  index: number,
): Promise<void> {
  const { path, body, proof } = CALLS.consume;
  const customer = 1 + Math.floor(Math.random() * customers);
  const sent = body.replace("%d", String(customer)).replace("%s", `${keyPrefix}${index}`);
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(sent),
  };
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { method: "POST", agent, headers }, (reply) => {
      let answer = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        answer += chunk;
      });
      reply.on("end", () =>
        answer.includes(proof ?? "") ? resolve() : reject(new Error(`a charge was answered with ${answer}`)),
      );
    });
    call.on("error", reject);
    call.end(sent);
  });
}
