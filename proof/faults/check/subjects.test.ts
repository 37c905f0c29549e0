import { expect, test } from "vitest";
import { hashKey } from "../../../service/src/entitlement/key-hash.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../service/src/primitives/brand.ts";
import { consumeId } from "../../../service/src/primitives/consume-id.ts";
import { publicId } from "../../../service/src/primitives/public-id.ts";
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

test.each([
  "job-7",
  "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
  "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
  "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "01arz3ndektsv4rrffq69g5fav",
  "81ARZ3NDEKTSV4RRFFQ69G5FAV",
  "01ARZ3NDEKTSV4RRFFQ69G5FAU",
])("the hash of key %s is the one it is stored under", (key) => {
  expect(keyHashOf(key).replaceAll("-", "")).toBe(hashKey(key));
});
