import { expect, test } from "vitest";
import { eachCustomer, runBulk, undoBulk, withRetry } from "../src/features/customers/bulk-run.ts";
import type { Customer } from "../src/features/customers/queries.ts";

const effectOf = (customerId: string) => ({
  customer: { customerId, name: null } as Customer,
  before: "0",
  after: "5",
});
const watch = { onProgress: () => {}, signal: new AbortController().signal };
const ids = ["a", "b", "c", "d", "e", "f"];

/** Changes customers in memory. Calls for the customers in `failing` fail. */
function setup() {
  const changed = new Set<string>();
  const failing = new Set<string>();
  const call = (customerId: string, act: () => void): void => {
    if (failing.has(customerId)) throw new Error(`no ${customerId}`);
    act();
  };
  const change = eachCustomer(async ({ customerId }) => {
    call(customerId, () => changed.add(customerId));
    return async () => call(customerId, () => changed.delete(customerId));
  });
  return { changed, failing, change };
}

test("after a retry, the first run can still be undone", async () => {
  const { changed, failing, change } = setup();
  failing.add("b").add("e");
  const first = await runBulk(ids.map(effectOf), change, watch);
  expect([first.changed, first.failed.length]).toEqual([4, 2]);
  failing.clear();
  const retried = await runBulk(
    first.failed.map(({ effect }) => effect),
    change,
    watch,
  );
  const both = withRetry(first, retried);
  expect([both.changed, both.failed, both.undos.length]).toEqual([6, [], 6]);
  await undoBulk(both, watch);
  expect([...changed]).toEqual([]);
});

test("a customer who cannot be restored does not keep the others from being restored", async () => {
  const { changed, failing, change } = setup();
  const result = await runBulk(ids.map(effectOf), change, watch);
  failing.add("e");
  await expect(undoBulk(result, watch)).rejects.toThrow("no e");
  expect([...changed]).toEqual(["e"]);
  failing.clear();
  await undoBulk(result, watch);
  expect([...changed]).toEqual([]);
});

test("an undo that is stopped can be continued", async () => {
  const { changed, change } = setup();
  const result = await runBulk(ids.map(effectOf), change, watch);
  const stop = new AbortController();
  const onProgress = (count: number): void => {
    if (count === 2) stop.abort();
  };
  const stopped = await undoBulk(result, { onProgress, signal: stop.signal });
  expect([stopped.changed, stopped.undos.length, changed.size]).toEqual([2, 4, 4]);
  expect((await undoBulk(stopped, watch)).undos).toEqual([]);
  expect([...changed]).toEqual([]);
});
