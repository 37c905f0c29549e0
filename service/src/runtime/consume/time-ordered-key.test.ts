import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";

const KEYS = [
  "019a8c00-0001-7abc-8def-0123456789ab",
  "019A8C00-0001-7ABC-8DEF-0123456789AB",
  "01K9X0000QXXXXXXXXXXXXXXXX",
];

test("requests with UUIDv7 and ULID keys are replayed, and the keys are stored in time order", async () => {
  const { database, consume } = await setupCredits();
  const send = (idempotencyKey: string) =>
    consume({ customerId: "ada", feature: "image.render", quantity: 1, idempotencyKey });
  const first = await Promise.all(KEYS.map(send));
  expect(new Set(first.map(({ body }) => body["consumeId"])).size).toBe(KEYS.length);
  const again = await Promise.all(KEYS.map(send));
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  const rows = await database.query(
    "select key, key_hash::text as hash from cell.keyed_requests order by key_hash",
  );
  expect(rows.map((row) => String(row["hash"]).slice(0, 13))).toEqual(
    ["019a8c00-0001", "019a8c00-0001", "019a7a00-0017"].toSorted(),
  );
  expect(await database.count("cell.ledger", "kind = 2")).toBe(KEYS.length);
});
