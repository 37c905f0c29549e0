import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../harness/caller.ts";
import { databaseAt } from "../harness/database.ts";

/** A customer of the demo with the plan Pro, who gets most notices. */
const NOTICED = "org_1016";
const MOVED = "org_1008";
const WAIT_MS_MAX = 30_000;

const RECEIVED = "/purser";

type Created = { readonly webhook: { readonly id: string } };
type Balances = { readonly balances: readonly { readonly pool: string; readonly balance: number }[] };
type Deliveries = { readonly items: readonly { readonly attempts: number }[] };

/** Gives the demo thresholds, four webhooks in different states, and deliveries that succeeded and failed. */
export async function seedWebhooks({
  caller,
  databaseUrl,
}: {
  readonly caller: Caller;
  readonly databaseUrl: string;
}): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const url = await startEndpoint(stack);
  await caller.call("PUT", "pools/credits", { body: { name: "Credits", lowBalances: [500, 100] } });
  const create = async (body: object): Promise<string> =>
    (JSON.parse((await caller.call("POST", "webhooks", { body })).text) as Created).webhook.id;
  const told = await create({ url: `${url}${RECEIVED}`, description: "Low balance emails" });
  const failing = await create({ url: `${url}/crm`, types: ["plan.changed", "plan.ended"] });
  const ended = await create({ url: `${url}/old`, description: "Old billing system" });
  const paused = await create({
    url: `${url}/pager`,
    description: "Pager of the sales team",
    types: ["overage.started"],
  });
  for (const id of [ended, paused])
    await caller.call("PATCH", `webhooks/${id}`, { body: { enabled: false } });

  await caller.call("POST", `webhooks/${told}/test`);
  await caller.call("POST", `customers/${MOVED}/plan`, { body: { plan: "scale" } });
  await useUp(caller);
  await awaitAttempts(caller, told);
  await awaitAttempts(caller, failing);

  // Addresses that a reader expects. Attempts that follow fail, because these names are reserved.
  const { query } = databaseAt(databaseUrl);
  const set = (id: string, values: string): Promise<unknown> =>
    query(`update cell.webhooks set ${values} where id = $1`, [id]);
  await set(told, "url = 'https://api.example.com/purser'");
  await set(failing, "url = 'https://crm.example.com/hooks/7c41e90b-2f6d-4a57/purser?team=success'");
  await set(paused, "url = 'https://pager.example.com/'");
  await set(
    ended,
    `url = 'https://billing.example.com/webhooks/purser', disabled_by_failures = true,
     failing_since = now() - interval '6 days', disabled_at = now() - interval '1 day'`,
  );
}

/** Crosses both thresholds, reaches a limit, and settles a hold that costs more than the customer has. */
async function useUp(caller: Caller): Promise<void> {
  const settle = await hold(caller, "chat.reply", 2_000);
  for (const target of [480, 90, 0]) {
    const { balances } = await caller.get<Balances>(`customers/${NOTICED}`);
    const images = Math.floor(((balances[0]?.balance ?? 0) - target) / 10);
    if (images > 0) await caller.consume(NOTICED, { feature: "image.generate", quantity: images });
  }
  await caller.consume(NOTICED, { feature: "hd.export", quantity: 20 });
  await settle(9_000);
}

async function hold(caller: Caller, feature: string, quantity: number) {
  const body = { customerId: NOTICED, feature, quantity, idempotencyKey: "chat_9d20c1" };
  const { holdId } = JSON.parse((await caller.call("POST", "/v1/holds", { body })).text) as {
    holdId: string;
  };
  return (used: number): Promise<unknown> =>
    caller.call("POST", `/v1/holds/${holdId}/settle`, { body: { customerId: NOTICED, quantity: used } });
}

/** Accepts deliveries at one path, and fails at all others. */
async function startEndpoint(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (request.url === RECEIVED) response.writeHead(204).end();
      else
        response
          .writeHead(502, { "content-type": "text/html" })
          .end("<h1>502 Bad Gateway</h1>\nupstream timed out");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function awaitAttempts(caller: Caller, id: string): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS_MAX; performance.now() < deadline; await pause(200)) {
    const { items } = await caller.get<Deliveries>(`webhooks/${id}/deliveries`);
    if (items.length > 0 && items.every(({ attempts }) => attempts > 0)) return;
  }
  throw new Error(`webhook ${id} was not attempted within ${WAIT_MS_MAX} ms`);
}
