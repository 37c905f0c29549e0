import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { publicId } from "../../../service/src/primitives/public-id.ts";
import { findUuid } from "./public-uuid.ts";

test("an event id of the service leads back to its uuid", () => {
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
])("%j is no event id", (text) => {
  expect(findUuid("evt", text)).toBeNull();
});
