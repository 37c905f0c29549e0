import { setTimeout as pause } from "node:timers/promises";
import { Caller } from "../harness/caller.ts";
import { withPool } from "../harness/database.ts";
import { quantile } from "../harness/figures.ts";
import { addProject, type Installation } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { countOutOfOrder, listenAll, type Notice, Receiver } from "./receivers.ts";

/** A charge of a whole allowance crosses them all. */
const LOW_BALANCES = [900, 800, 700, 600, 500, 400, 300, 200, 100, 50];
const ALLOWANCE_UNITS = 100;
/** Ten low balances and the depleted balance. */
export const NOTICES_OF_CUSTOMER = LOW_BALANCES.length + 1;
const SAMPLE_MS = 1_000;
const DRAINED_WITHIN_MS = 600_000;

export type LoadResult = {
  readonly deliveries: number;
  readonly seconds: number;
  /** How long after a change the webhook that answers was told. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly missing: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  readonly forged: number;
  /** The highest in the first quarter of the time, and afterward. */
  readonly residentWarmMb: number;
  readonly residentMaxMb: number;
};

/**
 * Creates deliveries to three webhooks at a steady rate: one that answers, one that fails, and one that hangs. Returns how late the first
 * one was told.
 */
export async function measureLoad(
  { database, project }: Installation,
  { customers, perSecond }: { readonly customers: number; readonly perSecond: number },
  stack: AsyncDisposableStack,
): Promise<LoadResult> {
  const service = await Service.start(database.url, stack, { environment: { WEBHOOK_TARGETS: "any" } });
  const added = await withPool(database.url, (pool) => addProject(pool, "Loud"));
  const caller = new Caller(service, { ...added, token: project.token });
  const answering = await Receiver.start("accepts", stack);
  const [failing, hanging] = [await Receiver.start("fails", stack), await Receiver.start("hangs", stack)];
  await listenAll(caller, [answering, failing, hanging], LOW_BALANCES);
  await caller.call("PUT", "default-plan", { body: { plan: "pro" }, headers: { "if-match": "*" } });
  const startMs = Date.now();
  const resident: number[] = [];
  const sampled = new AbortController();
  const sampling = (async () => {
    while (!sampled.signal.aborted) {
      resident.push(await service.residentMegabytes());
      await pause(SAMPLE_MS);
    }
  })();
  const charges: Promise<unknown>[] = [];
  for (let i = 0; i < customers; i++) {
    const dueMs = startMs + (i * 1_000) / perSecond;
    if (dueMs > Date.now()) await pause(dueMs - Date.now());
    charges.push(caller.consume(`customer_${i}`, { quantity: ALLOWANCE_UNITS }));
  }
  await Promise.all(charges);
  const expected = customers * NOTICES_OF_CUSTOMER;
  const hasAll = () => new Set(answering.arrivals.map(({ id }) => id)).size >= expected;
  while (!hasAll() && Date.now() - startMs < DRAINED_WITHIN_MS) await pause(SAMPLE_MS);
  const seconds = (Date.now() - startMs) / 1_000;
  sampled.abort();
  await sampling;

  const first = new Map(answering.arrivals.toReversed().map((arrival) => [arrival.id, arrival]));
  const latencies = [...first.values()].map(({ body, atMs }) => atMs - Date.parse(timeOf(body)));
  const quarter = Math.ceil(resident.length / 4);
  const [row] = await database.query("select count(*) as deliveries from cell.deliveries");
  return {
    deliveries: Number(row?.["deliveries"]),
    seconds,
    p50Ms: quantile(latencies, 0.5),
    p95Ms: quantile(latencies, 0.95),
    p99Ms: quantile(latencies, 0.99),
    missing: expected - first.size,
    repeated: answering.arrivals.length - first.size,
    outOfOrder: countOutOfOrder(answering),
    forged: answering.forged + failing.forged + hanging.forged,
    residentWarmMb: Math.max(...resident.slice(0, quarter)),
    residentMaxMb: Math.max(...resident.slice(quarter)),
  };
}

function timeOf(body: string): string {
  return (JSON.parse(body) as Notice).timestamp;
}
