import { expect } from "vitest";
import type { Reply } from "../../service/test/harness.ts";

/** Spec 4.1 rule 1: the original answer, byte for byte, and marked as what it is. */
export async function expectReplay(repeated: Promise<Reply>, original: Reply): Promise<void> {
  const reply = await repeated;
  expect(original.status).toBe(200);
  expect({ status: reply.status, text: reply.text }).toEqual({ status: 200, text: original.text });
  expect(reply.headers.get("content-type")).toBe(original.headers.get("content-type"));
  expect(reply.headers.get("idempotent-replayed")).toBe("true");
}
