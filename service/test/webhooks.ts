import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished } from "vitest";
import type { Reply } from "./harness.ts";
import { type Managed, setupManage } from "./manage.ts";

/** A delivery that a receiver has verified. */
export type Received = {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Answers a request, or returns without answering. */
type Answer = (request: IncomingMessage, response: ServerResponse, received: Received) => void;

const accept: Answer = (_, response) => response.writeHead(204).end();

export type Receiver = {
  readonly url: string;
  /** In order of arrival, including repeats. */
  readonly received: Received[];
  /** Deliveries whose signature was wrong. */
  readonly forged: string[];
  answer: Answer;
  /** The secret that verifies deliveries. Set it when the webhook is created. */
  secret: string;
};

/** Starts an HTTP server that verifies what it receives, as a customer's backend would. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const id = String(request.headers["webhook-id"]);
      try {
        new Webhook(receiver.secret).verify(body, request.headers as Record<string, string>);
      } catch {
        receiver.forged.push(id);
      }
      const received: Received = { id, ...JSON.parse(body) };
      receiver.received.push(received);
      receiver.answer(request, response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/purser`,
    received: [],
    forged: [],
    answer: accept,
    secret: "",
  };
  return receiver;
}

export type Notified = Managed & {
  /** Creates a webhook that delivers to the receiver. Returns its ID. */
  listen(receiver: Receiver, body?: object): Promise<string>;
  /** Charges images with a new key. An image costs 10 credits, and "ada" has 100. */
  render(quantity: number, customerId?: string): Promise<Reply>;
};

/** A service whose pool `credits` is low below 50 and 20 credits, and which may deliver to this machine. */
export async function setupNotified(overrides: Record<string, string> = {}): Promise<Notified> {
  const managed = await setupManage({ WEBHOOK_TARGETS: "any", ...overrides });
  const { manage } = managed;
  expectDone(await manage("PUT", "pools/credits", { body: { name: "Credits", lowBalances: [50, 20] } }));
  let keys = 0;
  return {
    ...managed,
    render: (quantity, customerId = "ada") =>
      managed.consume({ customerId, feature: "image.render", quantity, idempotencyKey: `render-${keys++}` }),
    listen: async (receiver, body = {}) => {
      const { webhook, secret } = expectDone(
        await manage("POST", "webhooks", { body: { url: receiver.url, ...body } }),
      ) as { webhook: { id: string }; secret: string };
      receiver.secret = secret;
      return webhook.id;
    },
  };
}

export function expectDone(reply: Reply): Record<string, unknown> {
  expect(reply, reply.text).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
  return reply.body;
}
