import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { hashKey } from "../../../service/src/entitlement/key-hash.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../service/src/primitives/brand.ts";
import { consumeId } from "../../../service/src/primitives/consume-id.ts";
import { publicId } from "../../../service/src/primitives/public-id.ts";
import { chargeId, findUuid, keyHashOf } from "./subjects.ts";

// The checker derives IDs and hashes without the service's code. The results must be the same as the service's.

test.each([
  { recordedAtMs: 1_790_000_000_123, customer: 1, sequence: 1 },
  { recordedAtMs: 2 ** 48 - 1, customer: 2 ** 40 - 1, sequence: 2 ** 40 - 1 },
])("a consumeId decodes to the ID of its entry: %j", (entry) => {
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
])("the hash of key %s equals the hash that the service stores", (key) => {
  expect(keyHashOf(key).replaceAll("-", "")).toBe(hashKey(key));
});

test("an event ID decodes to its UUID", () => {
  for (const uuid of [
    Buffer.alloc(16, 0),
    Buffer.alloc(16, 0xff),
    ...Array.from({ length: 200 }, () => randomBytes(16)),
  ]) {
    expect(findUuid("evt", publicId("evt", uuid))?.replaceAll("-", "")).toBe(uuid.toString("hex"));
  }
  expect(findUuid("evt", publicId("evt", Buffer.from("0198c1f27c5a7abcdef0123456789abc", "hex")))).toBe(
    "0198c1f2-7c5a-7abc-def0-123456789abc",
  );
});

test.each([
  "",
  "evt_",
  "req_00000000000000000000000000",
  "con_00000000000000000000000000",
  "evt_0000000000000000000000000u",
  "evt_80000000000000000000000000",
])("%j is not an event ID", (text) => {
  expect(findUuid("evt", text)).toBeNull();
});
