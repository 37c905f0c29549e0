import { expect, test } from "vitest";
import { brandAs, type CustomerId, type FeatureKey, type Instant } from "../primitives/brand.ts";
import { ANSWER_FORMAT_CONSUME, ANSWER_FORMAT_EVENT, renderAnswer, UnknownAnswerFormat } from "./answer.ts";

const SUBJECT = Buffer.from("019a7f5c0000700080000000000000ff", "hex");
const ASKED = {
  customerId: brandAs<CustomerId>('customer "42"'),
  feature: brandAs<FeatureKey>("image.render"),
  quantity: 2,
};
const RESETS_AT = brandAs<Instant>(Date.UTC(2026, 11, 1));

test("format 1 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_EVENT).toBe(1);
  expect(renderAnswer({ format: 1, subjectId: SUBJECT, verdict: null }, null)).toBe(
    '{"accepted":true,"eventId":"evt_01k9znr000e00800000000007z"}',
  );
});

test("format 2 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_CONSUME).toBe(2);
  const limit = { quantity: 5, used: 7, resetsAt: null };
  const allowed = {
    reason: null,
    creditsRequired: 20,
    position: { balance: 80, resetsAt: RESETS_AT, limit: null },
  };
  expect(renderAnswer({ format: 2, subjectId: SUBJECT, verdict: allowed }, ASKED)).toBe(
    '{"allowed":true,"reason":null,"customerId":"customer \\"42\\"","feature":"image.render","quantity":2,' +
      '"creditsRequired":20,"balance":80,"resetsAt":"2026-12-01T00:00:00.000Z","limit":null,' +
      '"consumeId":"con_01k9znr000e00800000000007z","creditsCharged":20}',
  );
  const denied = {
    reason: "limit_reached" as const,
    creditsRequired: 20,
    position: { balance: 80, resetsAt: null, limit },
  };
  expect(renderAnswer({ format: 2, subjectId: SUBJECT, verdict: denied }, ASKED)).toBe(
    '{"allowed":false,"reason":"limit_reached","customerId":"customer \\"42\\"","feature":"image.render",' +
      '"quantity":2,"creditsRequired":20,"balance":80,"resetsAt":null,' +
      '"limit":{"quantity":5,"used":7,"remaining":0,"resetsAt":null},"consumeId":null,"creditsCharged":0}',
  );
});

test("an unknown response format throws instead of guessing", () => {
  for (const format of [0, 3]) {
    expect(() => renderAnswer({ format, subjectId: SUBJECT, verdict: null }, null)).toThrow(
      UnknownAnswerFormat,
    );
  }
});

test("rendering a response without a subject ID fails an assertion", () => {
  expect(() => renderAnswer({ format: 1, subjectId: Buffer.alloc(0), verdict: null }, null)).toThrow(
    "invariant",
  );
  expect(() => renderAnswer({ format: 2, subjectId: SUBJECT, verdict: null }, ASKED)).toThrow("invariant");
});
