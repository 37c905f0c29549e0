import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { single } from "../../postgres/transaction.ts";
import { isServerZone } from "./server-zone.ts";

test("a zone that the server lacks is none, and the connection goes on", async () => {
  const { cell } = await setupCredits();
  expect(await single(cell, (tx) => isServerZone(tx, "Europe/Berlin"))).toBe(true);
  expect(await single(cell, (tx) => isServerZone(tx, "Mars/Olympus"))).toBe(false);
  expect(await single(cell, (tx) => isServerZone(tx, "UTC"))).toBe(true);
});
