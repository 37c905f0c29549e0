import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import type { Caller } from "../harness/caller.ts";
import { POOL } from "../harness/project.ts";

/** The body of a delivery. */
export type Notice = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly customerId: string;
    readonly sequence: number;
  };
};

/** One attempt, in order of arrival. */
export type Arrival = { readonly id: string; readonly body: string; readonly atMs: number };

export type Behaviour = "accepts" | "fails" | "hangs";

/** A backend that receives webhooks and verifies every signature. */
export class Receiver {
  readonly arrivals: Arrival[] = [];
  /** Deliveries whose signature was wrong. */
  forged = 0;
  #verifier: Webhook | null = null;
  #url = "";

  static async start(behaviour: Behaviour, stack: AsyncDisposableStack): Promise<Receiver> {
    const receiver = new Receiver();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        receiver.#receive(Buffer.concat(chunks).toString(), request.headers);
        if (behaviour !== "hangs") response.writeHead(behaviour === "accepts" ? 204 : 503).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    receiver.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return receiver;
  }

  get url(): string {
    return this.#url;
  }

  set secret(secret: string) {
    this.#verifier = new Webhook(secret);
  }

  #receive(body: string, headers: Readonly<Record<string, unknown>>): void {
    try {
      this.#verifier?.verify(body, headers as Record<string, string>);
    } catch {
      this.forged += 1;
    }
    this.arrivals.push({ id: String(headers["webhook-id"]), body, atMs: Date.now() });
  }
}

/** Creates a webhook for each receiver, and sets when a balance is low. */
export async function listenAll(
  caller: Caller,
  receivers: readonly Receiver[],
  lowBalances: readonly number[],
): Promise<void> {
  await caller.call("PUT", `pools/${POOL}`, { body: { name: "Credits", lowBalances } });
  for (const receiver of receivers) {
    const { text } = await caller.call("POST", "webhooks", { body: { url: receiver.url } });
    receiver.secret = JSON.parse(text).secret;
  }
}

/** Notices that first arrived after a later notice about the same customer. */
export function countOutOfOrder({ arrivals }: Receiver): number {
  const latest = new Map<string, number>();
  const seen = new Set<string>();
  let outOfOrder = 0;
  for (const { id, body } of arrivals) {
    if (seen.has(id)) continue;
    seen.add(id);
    const { customerId, sequence } = (JSON.parse(body) as Notice).data;
    if (sequence < (latest.get(customerId) ?? 0)) outOfOrder += 1;
    else latest.set(customerId, sequence);
  }
  return outOfOrder;
}
