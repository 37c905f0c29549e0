import { expect, onTestFinished, test, vi } from "vitest";
import { brandAs, type CustomerId, type EnvironmentId } from "../primitives/brand.ts";
import { halve, RequestQueue } from "./request-queue.ts";

type Given = { environment?: number; customer?: string; size?: number; ageMs?: number };

function waiting({ environment = 1, customer = "org_1", size = 1, ageMs = 0 }: Given = {}) {
  return {
    enqueuedAtMs: performance.now() - ageMs,
    size,
    request: {
      environmentId: brandAs<EnvironmentId>(environment),
      customerId: brandAs<CustomerId>(customer),
      span: null,
    },
  };
}

type Waiting = ReturnType<typeof waiting>;

function open(lengthMax = 1_000): { queue: RequestQueue<Waiting>; rejected: Waiting[] } {
  const rejected: Waiting[] = [];
  const queue = new RequestQueue<Waiting>({
    lengthMax,
    sizeOf: ({ size }) => size,
    onOverload: (some) => rejected.push(...some),
  });
  queue.close();
  return { queue, rejected };
}

function addEach(queue: RequestQueue<Waiting>, count: number, given: Given = {}): void {
  for (let i = 0; i < count; i++) queue.add([waiting(given)]);
}

function countByEnvironment(batch: readonly Waiting[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { request } of batch) counts[request.environmentId] = (counts[request.environmentId] ?? 0) + 1;
  return counts;
}

test("a request that is too old when put back is rejected immediately", () => {
  const { queue, rejected } = open();
  const old = [waiting({ ageMs: 3_000 }), waiting({ ageMs: 3_000 })];
  queue.putBack([...old, waiting({ ageMs: 10 })]);
  expect(rejected).toEqual(old);
  expect(queue.length).toBe(1);
});

test("a batch of one environment has at most 300 charges", () => {
  const { queue } = open();
  addEach(queue, 16, { size: 20 });
  addEach(queue, 2);
  expect(queue.take()).toHaveLength(15);
  expect(queue.take()).toHaveLength(3);
  expect(queue.take()).toHaveLength(0);
  expect(queue.length).toBe(0);
});

test("requests of one environment keep their order, even when put back", () => {
  const { queue } = open();
  const all = Array.from({ length: 450 }, () => waiting());
  for (const each of all) queue.add([each]);
  const first = queue.take();
  queue.putBack(first.slice(100));
  expect([...first.slice(0, 100), ...queue.take(), ...queue.take()]).toEqual(all);
});

test("environments take turns, however many requests one of them has", () => {
  const { queue } = open();
  addEach(queue, 500, { environment: 1 });
  addEach(queue, 30, { environment: 2 });
  addEach(queue, 3, { environment: 3 });
  const first = queue.take();
  expect(countByEnvironment(first)).toEqual({ 1: 10, 2: 7, 3: 3 });
});

test("an environment's turn counts charges, not requests", () => {
  const { queue } = open();
  addEach(queue, 100, { environment: 1, size: 15 });
  addEach(queue, 1_000, { environment: 2, size: 1 });
  const taken = { 1: 0, 2: 0 };
  for (let i = 0; i < 30; i++)
    for (const { request, size } of queue.take()) taken[request.environmentId as 1 | 2] += size;
  expect(taken[1] / taken[2]).toBeGreaterThan(0.9);
  expect(taken[1] / taken[2]).toBeLessThan(1.1);
});

test("a request as large as a shared batch gets its turn despite a backlog of small requests", () => {
  for (const others of [[2], [2, 3, 4]]) {
    const { queue } = open(5_000);
    for (const environment of others) addEach(queue, 500, { environment });
    addEach(queue, 3, { environment: 1, size: 20 });
    let taken = 0;
    for (let i = 0; i < 20; i++) taken += countByEnvironment(queue.take())[1] ?? 0;
    expect(taken).toBe(3);
  }
});

test("batches are short while environments share the queue, and become long again a second later", async () => {
  const { queue } = open();
  addEach(queue, 1_000, { environment: 1 });
  expect(queue.take()).toHaveLength(300);
  queue.add([waiting({ environment: 2 })]);
  expect(queue.take()).toHaveLength(20);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  expect(queue.take()).toHaveLength(300);
});

test("in a full queue, the environment with the most requests loses its newest requests", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { queue, rejected } = open(100);
  addEach(queue, 100, { environment: 1 });
  const newest = waiting({ environment: 1 });
  queue.add([newest]);
  expect(rejected).toEqual([newest]);
  addEach(queue, 60, { environment: 2 });
  expect(queue.length).toBe(100);
  // Rejections are held back for up to one and a half seconds.
  expect(rejected).toHaveLength(1);
  vi.advanceTimersByTime(1_500);
  expect(countByEnvironment(rejected)).toEqual({ 1: 51, 2: 10 });
});

test("requests that arrive together are either all admitted or all rejected", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { queue, rejected } = open(100);
  addEach(queue, 100, { environment: 1 });
  queue.add(Array.from({ length: 60 }, () => waiting({ environment: 2 })));
  vi.advanceTimersByTime(1_500);
  expect(countByEnvironment(rejected)).toEqual({ 2: 60 });
  queue.add(Array.from({ length: 40 }, () => waiting({ environment: 2 })));
  vi.advanceTimersByTime(1_500);
  expect(countByEnvironment(rejected)).toEqual({ 1: 40, 2: 60 });
  expect(queue.length).toBe(100);
});

test("a batch for one customer has no other customer's requests, and environments take turns", () => {
  const { queue } = open();
  addEach(queue, 2, { environment: 1, customer: "org_1" });
  addEach(queue, 2, { environment: 1, customer: "org_2" });
  addEach(queue, 1, { environment: 2, customer: "org_1" });
  const taken = Array.from({ length: 4 }, () => queue.takeOneCustomer());
  const names = taken.map((batch) =>
    batch.map(({ request }) => `${request.environmentId} ${request.customerId}`),
  );
  expect(names).toEqual([["1 org_1", "1 org_1"], ["2 org_1"], ["1 org_2", "1 org_2"], []]);
  expect(queue.length).toBe(0);
});

test("a batch is halved between environments before it is halved within one", () => {
  const mixed = [1, 2, 1, 3, 1, 2].map((environment) => waiting({ environment }));
  const [first = [], second = []] = halve(mixed);
  expect([countByEnvironment(first), countByEnvironment(second)]).toEqual([{ 1: 3, 2: 2 }, { 3: 1 }]);
  const [one = []] = halve(first);
  expect(halve(first).map(countByEnvironment)).toEqual([{ 1: 3 }, { 2: 2 }]);
  expect(halve(one).map(countByEnvironment)).toEqual([{ 1: 2 }, { 1: 1 }]);
  expect(halve([])).toEqual([]);
});

test("shared batches grow if the last batch was fast, and shrink if it was slow", () => {
  const { queue } = open(5_000);
  addEach(queue, 2_000, { environment: 1 });
  queue.add([waiting({ environment: 2 })]);
  for (let i = 0; i < 10; i++) queue.adapt(queue.take(), 5);
  expect(queue.take()).toHaveLength(30);
  for (let i = 0; i < 10; i++) queue.adapt(queue.take(), 50);
  expect(queue.take()).toHaveLength(20);
});
