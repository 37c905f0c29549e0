import { expect, onTestFinished, test, vi } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { DAY_MS, windBack } from "../../test/wind-back.ts";
import { transaction } from "../postgres/transaction.ts";
import { lockSweep } from "../store/cell/sweeps.ts";
import { purgeEndedKeys } from "./purge-ended-keys.ts";
import { sweepExpiries } from "./sweep-expiries.ts";

/** Sets this process's clock back, so that the database's clock appears to be ahead. */
function setOwnClockBack(ms: number): void {
  const now = Date.now.bind(Date);
  const set = vi.spyOn(Date, "now").mockImplementation(() => now() - ms);
  onTestFinished(() => set.mockRestore());
}

test("if the database's clock is far ahead, no key expires and the sweeps fail", async () => {
  const { database, cell, consume } = await setupCredits({ IDEMPOTENCY_DAYS: "40" });
  const render = () => consume({ customerId: "ada", feature: "image.render", idempotencyKey: "job-7" });
  const { body: first } = await render();
  setOwnClockBack(41 * DAY_MS);
  await database.query("alter table cell.keyed_requests disable trigger user");
  await database.query("update cell.keyed_requests set recorded_at = recorded_at - interval '984 hours'");
  await database.query("alter table cell.keyed_requests enable trigger user");
  await windBack(database, 41 * DAY_MS);
  await database.query("update cell.sweeps set position = null, rests_until = 'epoch'");
  // The service's jobs also run, so the sweep may be locked when the test runs it.
  for (const job of [() => purgeEndedKeys(cell, 40), () => sweepExpiries(cell)])
    await expect.poll(() => job().then(String, String), { interval: 5 }).toContain("the database's clock");
  expect((await render()).body).toEqual(first);
  expect(await database.count("cell.keyed_requests")).toBe(1);
  expect(await database.count("cell.ledger", "kind = 3")).toBe(0);
});

test("a sweep's pause is ignored if the clock was far ahead when the pause was set", async () => {
  const { database, cell } = await setupCredits();
  await database.query("update cell.sweeps set rests_until = now() + interval '41 days'");
  expect(await transaction(cell, (tx) => lockSweep(tx, "ended keys"))).toEqual({ position: null });
  await database.query("update cell.sweeps set rests_until = now() + interval '6 hours'");
  expect(await transaction(cell, (tx) => lockSweep(tx, "ended keys"))).toBe(null);
});
