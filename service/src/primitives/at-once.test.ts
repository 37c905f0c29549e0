import { expect, test } from "vitest";
import { AtOnce } from "./at-once.ts";

test("tasks beyond the limit wait in order, and tasks beyond the queue's limit are rejected", async () => {
  const atOnce = new AtOnce({ refusal: () => new Error("full"), max: 2, waitingMax: 2, waitMsMax: 60_000 });
  const log: string[] = [];
  const ends = new Map<string, (value: string) => void>();
  const start = (name: string) =>
    atOnce.run(1, () => {
      log.push(name);
      return new Promise<string>((resolve) => ends.set(name, resolve));
    });
  const [a, b, c, d] = [start("a"), start("b"), start("c"), start("d")];
  await expect(start("e")).rejects.toThrow("full");
  expect(log).toEqual(["a", "b"]);
  ends.get("b")?.("done");
  expect(await b).toBe("done");
  await Promise.resolve();
  expect(log).toEqual(["a", "b", "c"]);
  ends.get("a")?.("done");
  expect(await a).toBe("done");
  await Promise.resolve();
  ends.get("c")?.("done");
  ends.get("d")?.("done");
  expect([await c, await d, log]).toEqual(["done", "done", ["a", "b", "c", "d"]]);
});

test("the next waiting task starts after a task fails", async () => {
  const atOnce = new AtOnce({ refusal: () => new Error("full"), max: 1, waitingMax: 1, waitMsMax: 60_000 });
  const failed = atOnce.run(1, () => Promise.reject(new Error("failed")));
  const next = atOnce.run(1, async () => "next");
  await expect(failed).rejects.toThrow("failed");
  expect(await next).toBe("next");
});

test("a task does not wait for another owner's tasks", async () => {
  const atOnce = new AtOnce({ refusal: () => new Error("full"), max: 1, waitingMax: 0, waitMsMax: 60_000 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = atOnce.run(1, () => promise);
  await expect(atOnce.run(1, async () => "same owner")).rejects.toThrow("full");
  expect(await atOnce.run(2, async () => "other owner")).toBe("other owner");
  resolve("first");
  expect(await first).toBe("first");
});

test("a task that waits too long is rejected, and the next waiting task still runs", async () => {
  const atOnce = new AtOnce({ refusal: () => new Error("full"), max: 1, waitingMax: 2, waitMsMax: 20 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = atOnce.run(1, () => promise);
  await expect(atOnce.run(1, async () => "too late")).rejects.toThrow("full");
  const next = atOnce.run(1, async () => "next");
  resolve("first");
  expect([await first, await next]).toEqual(["first", "next"]);
});
