import { expect, test } from "vitest";
import { shortHash } from "../../../service/src/entitlement/fingerprint.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../service/src/words/brand.ts";
import { consumeId } from "../../../service/src/words/consume-id.ts";
import { publicId } from "../../../service/src/words/public-id.ts";
import { keyHashOf } from "./keys/key-hash.ts";
import { findUuid } from "./public-uuid.ts";
import { chargeId } from "./subjects.ts";

// What the service makes of an entry and of a key, the checker makes of them on its own.

test.each([
  { recordedAtMs: 1_790_000_000_123, customer: 1, sequence: 1 },
  { recordedAtMs: 2 ** 48 - 1, customer: 2 ** 40 - 1, sequence: 2 ** 40 - 1 },
])("a consume's id leads to its entry: %j", (entry) => {
  const { recordedAtMs, customer, sequence } = entry;
  const id = consumeId({
    recordedAt: brandAs<Instant>(recordedAtMs),
    customerNumber: brandAs<CustomerNumber>(customer),
    sequence,
  });
  expect(findUuid("con", publicId("con", id))).toBe(chargeId(entry));
});

test("a key's hash is the one it is stored under", () => {
  expect(keyHashOf("job-7").replaceAll("-", "")).toBe(shortHash("job-7"));
});
