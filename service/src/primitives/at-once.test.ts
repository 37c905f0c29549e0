import { expect, test } from "vitest";
import { AtOnce } from "./at-once.ts";

test("tasks beyond the limit wait in order, and those beyond the queue are refused", async () => {
  const atOnce = new AtOnce({ max: 2, waitingMax: 2 });
  const log: string[] = [];
  const ends = new Map<string, (value: string) => void>();
  const start = (name: string) =>
    atOnce.run(() => {
      log.push(name);
      return new Promise<string>((resolve) => ends.set(name, resolve));
    });
  const [a, b, c, d] = [start("a"), start("b"), start("c"), start("d")];
  expect(await start("e")).toBeNull();
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

test("a task that fails hands its place over", async () => {
  const atOnce = new AtOnce({ max: 1, waitingMax: 1 });
  const failed = atOnce.run(() => Promise.reject(new Error("failed")));
  const next = atOnce.run(async () => "next");
  await expect(failed).rejects.toThrow("failed");
  expect(await next).toBe("next");
});
