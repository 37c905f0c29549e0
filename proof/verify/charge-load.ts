import { Agent, request } from "node:http";
import { CALLS } from "../bench/load/calls.ts";

export type ChargeLoad = {
  readonly url: string;
  readonly apiKey: string;
  readonly customers: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly keyPrefix: string;
};

/**
 * Charges of random customers at a fixed rate, whatever became of those before, each timed from when it was due.
 * Connections are opened as they are needed: at a moderate rate few are. Returns how long each took, in milliseconds.
 */
export async function sendCharges(load: ChargeLoad): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const total = Math.round(load.perSecond * load.seconds);
  const startMs = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < total) {
    const due = ((performance.now() - startMs) * load.perSecond) / 1_000;
    while (sent.length < Math.min(due, total)) {
      const dueMs = startMs + (sent.length * 1_000) / load.perSecond;
      sent.push(charge(load, agent, sent.length).then(() => performance.now() - dueMs));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const latencies = await Promise.all(sent);
  agent.destroy();
  return latencies;
}

function charge(
  { url, apiKey, customers, keyPrefix }: ChargeLoad,
  agent: Agent,
  index: number,
): Promise<void> {
  const { path, body, proof } = CALLS.consume;
  const customer = 1 + Math.floor(Math.random() * customers);
  const text = body.replace("%d", String(customer)).replace("%s", `${keyPrefix}${index}`);
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
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
    call.end(text);
  });
}
