import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Caller } from "../harness/caller.ts";
import type { Database, Row } from "../harness/database.ts";
import { startLoop } from "../harness/loop.ts";
import { type Installation, POOL } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { integerBetween } from "../harness/random.ts";
import { countOutOfOrder, listenAll, Receiver } from "./receivers.ts";

const LOW_BALANCES = [500, 250, 100, 50];
const CUSTOMERS = 20;
const LOOPS = 8;
const TOP_UP = 600;
const BETWEEN_KILLS_MS = { min: 100, max: 1_500 };
const DELIVERED_WITHIN_MS = 120_000;
const POLL_MS = 500;

export type CrashResult = {
  readonly entries: number;
  readonly notices: number;
  readonly lost: number;
  readonly doubled: number;
  readonly undelivered: number;
  readonly repeated: number;
  /** Repeats whose body differs from the first delivery. */
  readonly changed: number;
  readonly outOfOrder: number;
  readonly forged: number;
};

/**
 * Charges, tops up and reverses through two processes while these and PostgreSQL are killed. Then compares the outbox with the crossings that
 * follow from the ledger, and with what the webhook received.
 */
export async function surviveCrashes(
  { server, database, project }: Installation,
  { serviceKills, postgresKills }: { readonly serviceKills: number; readonly postgresKills: number },
  stack: AsyncDisposableStack,
): Promise<CrashResult> {
  const environment = { WEBHOOK_TARGETS: "any" };
  const services = [
    await Service.start(database.url, stack, { name: "first", environment }),
    await Service.start(database.url, stack, { name: "second", environment }),
  ] as const;
  const callers = services.map((service) => new Caller(service, project));
  const receiver = await Receiver.start("accepts", stack);
  const [operator] = callers;
  if (operator === undefined) throw new Error("no caller");
  await listenAll(operator, [receiver], LOW_BALANCES);
  const customers = Array.from({ length: CUSTOMERS }, (_, index) => `customer_${index}`);
  for (const customer of customers)
    await operator.call("POST", `customers/${customer}/plan`, { body: { plan: "pro" } });

  const loops = Array.from({ length: LOOPS }, (_, index) =>
    startLoop((round) => act(callers[(index + round) % 2] ?? operator, customers)),
  );
  const kills = shuffled([
    ...Array<"service">(serviceKills).fill("service"),
    ...Array<"postgres">(postgresKills).fill("postgres"),
  ]);
  for (const [index, what] of kills.entries()) {
    await pause(integerBetween(BETWEEN_KILLS_MS.min, BETWEEN_KILLS_MS.max));
    if (what === "postgres") {
      await server.kill();
      await server.startAgain();
    } else {
      const service = services[index % 2 === 0 ? 0 : 1];
      await service.kill();
      await service.launch();
    }
    if ((index + 1) % 10 === 0) console.log(`  ${index + 1} of ${kills.length} kills`);
  }
  for (const loop of loops) await loop.stop();
  for (const service of services) if (!service.isAlive) await service.launch();
  return compare(database, receiver);
}

/** One random call. A call that fails has an unknown outcome, which only the ledger knows. */
async function act(caller: Caller, customers: readonly string[]): Promise<void> {
  const customerId = customers[integerBetween(0, customers.length - 1)] ?? "";
  const chance = Math.random();
  try {
    const { consumeId, allowed } = await caller.consume(customerId, { quantity: integerBetween(1, 12) });
    if (!allowed || chance < 0.1)
      await caller.call("POST", `customers/${customerId}/credits`, {
        body: { kind: "purchase", pool: POOL, credits: integerBetween(1, TOP_UP), reference: randomUUID() },
      });
    else if (chance < 0.3)
      await caller.call("POST", `customers/${customerId}/consumes/${consumeId}/reverse`, { body: {} });
  } catch {
    await pause(integerBetween(5, 50));
  }
}

async function compare(database: Database, receiver: Receiver): Promise<CrashResult> {
  const startMs = Date.now();
  const countPending = async (): Promise<number> => {
    const [row] = await database.query(
      "select count(*) as pending from cell.deliveries where state = 'pending'",
    );
    return Number(row?.["pending"]);
  };
  while ((await countPending()) > 0 && Date.now() - startMs < DELIVERED_WITHIN_MS) await pause(POLL_MS);
  const entries = await database.query(
    "select customer_number, sequence, kind, balance_after from cell.ledger order by customer_number, sequence",
  );
  const expected = crossingsOf(entries);
  const notices = await database.query(
    `select encode(uuid_send(id), 'hex') as id, customer_number, sequence, type, details::jsonb ->> 'threshold' as threshold
     from cell.notices
     where type in ('balance.low', 'balance.depleted')`,
  );
  const [row] = await database.query("select count(*) as notices from cell.notices");
  const found = notices.map(
    ({ customer_number, sequence, threshold }) => `${customer_number} ${sequence} ${threshold ?? 1}`,
  );
  const ids = new Set(receiver.arrivals.map(({ id }) => id));
  const firstBodies = new Map(receiver.arrivals.toReversed().map(({ id, body }) => [id, body]));
  return {
    entries: entries.length,
    notices: Number(row?.["notices"]),
    lost: [...expected].filter((crossing) => !found.includes(crossing)).length,
    doubled: found.length - new Set(found).size + found.filter((crossing) => !expected.has(crossing)).length,
    undelivered: Number(row?.["notices"]) - ids.size,
    repeated: receiver.arrivals.length - ids.size,
    changed: receiver.arrivals.filter(({ id, body }) => firstBodies.get(id) !== body).length,
    outOfOrder: countOutOfOrder(receiver),
    forged: receiver.forged,
  };
}

const KIND_GRANT = 1;

/** The thresholds that each entry crosses for the first time since the last grant. A threshold of 1 means that no credits are left. */
function crossingsOf(entries: readonly Row[]): Set<string> {
  const crossings = new Set<string>();
  const armed = new Map<string, Set<number>>();
  for (const { customer_number, sequence, kind, balance_after } of entries) {
    const customer = String(customer_number);
    const thresholds = armed.get(customer) ?? new Set<number>();
    armed.set(customer, thresholds);
    for (const threshold of [...LOW_BALANCES, 1]) {
      if (Number(kind) === KIND_GRANT && Number(balance_after) >= threshold) thresholds.add(threshold);
      if (Number(balance_after) < threshold && thresholds.delete(threshold))
        crossings.add(`${customer} ${sequence} ${threshold}`);
    }
  }
  return crossings;
}

function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = integerBetween(0, i);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
