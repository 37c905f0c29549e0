import { expect, test } from "vitest";
import {
  brandAs,
  type CustomerId,
  type FeatureKey,
  type Instant,
  type Quantity,
} from "../primitives/brand.ts";
import { renderAnswer, UnknownAnswerFormat } from "./answer.ts";
import {
  ANSWER_FORMAT_CONSUME,
  ANSWER_FORMAT_DENIAL,
  ANSWER_FORMAT_EVENT,
  ANSWER_FORMAT_ITEMS,
  ANSWER_FORMAT_OVERAGE,
  ANSWER_FORMAT_REVERSAL,
} from "./stored-answer.ts";

const SUBJECT = Buffer.from("019a7f5c0000700080000000000000ff", "hex");
const ASKED = {
  customerId: brandAs<CustomerId>('customer "42"'),
  items: [{ feature: brandAs<FeatureKey>("image.render"), quantity: brandAs<Quantity>(2) }],
  hasItems: false,
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
  const position = { balance: 80, resetsAt: RESETS_AT, limit: null, overage: null };
  const allowed = {
    reason: null,
    single: { creditsRequired: 20, overageCredits: 0, position },
    details: null,
  };
  expect(renderAnswer({ format: 2, subjectId: SUBJECT, verdict: allowed }, ASKED)).toBe(
    '{"allowed":true,"reason":null,"customerId":"customer \\"42\\"","feature":"image.render","quantity":2,' +
      '"creditsRequired":20,"balance":80,"resetsAt":"2026-12-01T00:00:00.000Z","limit":null,' +
      '"consumeId":"con_01k9znr000e00800000000007z","creditsCharged":20}',
  );
  const denied = {
    reason: "limit_reached" as const,
    single: {
      creditsRequired: 20,
      overageCredits: 0,
      position: { balance: 80, resetsAt: null, limit, overage: null },
    },
    details: null,
  };
  expect(renderAnswer({ format: 2, subjectId: SUBJECT, verdict: denied }, ASKED)).toBe(
    '{"allowed":false,"reason":"limit_reached","customerId":"customer \\"42\\"","feature":"image.render",' +
      '"quantity":2,"creditsRequired":20,"balance":80,"resetsAt":null,' +
      '"limit":{"quantity":5,"used":7,"remaining":0,"resetsAt":null},"consumeId":null,"creditsCharged":0}',
  );
});

test("format 3 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_DENIAL).toBe(3);
  const position = { balance: 15, resetsAt: RESETS_AT, limit: null, overage: null };
  const denied = {
    reason: "insufficient_credits" as const,
    single: { creditsRequired: 20, overageCredits: 0, position },
    details: "1",
  };
  expect(renderAnswer({ format: 3, subjectId: SUBJECT, verdict: denied }, ASKED)).toBe(
    '{"allowed":false,"reason":"insufficient_credits","customerId":"customer \\"42\\"","feature":"image.render",' +
      '"quantity":2,"creditsRequired":20,"balance":15,"resetsAt":"2026-12-01T00:00:00.000Z","limit":null,' +
      '"affordableQuantity":1,"consumeId":null,"creditsCharged":0}',
  );
});

test("format 4 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_ITEMS).toBe(4);
  const asked = {
    ...ASKED,
    hasItems: true,
    items: [...ASKED.items, { feature: brandAs<FeatureKey>("tokens"), quantity: brandAs<Quantity>(300) }],
  };
  const items = `[[20,"credits",77,${RESETS_AT}],[3,"credits",77,${RESETS_AT},1000,300,null]]`;
  const allowed = { reason: null, single: null, details: `[null,null,${items}]` };
  expect(renderAnswer({ format: 4, subjectId: SUBJECT, verdict: allowed }, asked)).toBe(
    '{"allowed":true,"reason":null,"deniedItem":null,"customerId":"customer \\"42\\"","items":[' +
      '{"feature":"image.render","quantity":2,"creditsRequired":20,"creditsCharged":20,"pool":"credits","balance":77,' +
      '"resetsAt":"2026-12-01T00:00:00.000Z","limit":null},' +
      '{"feature":"tokens","quantity":300,"creditsRequired":3,"creditsCharged":3,"pool":"credits","balance":77,' +
      '"resetsAt":"2026-12-01T00:00:00.000Z",' +
      '"limit":{"quantity":1000,"used":300,"remaining":700,"resetsAt":null}}],' +
      '"consumeId":"con_01k9znr000e00800000000007z"}',
  );
  const denied = { ...allowed, reason: "insufficient_credits" as const, details: `[1,40,${items}]` };
  expect(renderAnswer({ format: 4, subjectId: SUBJECT, verdict: denied }, asked)).toMatch(
    /^\{"allowed":false,"reason":"insufficient_credits","deniedItem":1,"affordableQuantity":40,"customerId":.*"creditsCharged":0.*"consumeId":null\}$/,
  );
});

test("format 6 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_REVERSAL).toBe(6);
  const details =
    '{"creditsReturned":10,"overageCredits":0,"items":[{"feature":"image","quantity":1,"creditsReturned":10,"overageCredits":0,"pool":"credits","balance":90}]}';
  const verdict = { reason: null, single: null, details };
  expect(renderAnswer({ format: 6, subjectId: SUBJECT, verdict }, ASKED)).toBe(
    `{"consumeId":"con_01k9znr000e00800000000007z","customerId":${JSON.stringify(ASKED.customerId)},` +
      '"creditsReturned":10,"overageCredits":0,"items":[{"feature":"image","quantity":1,"creditsReturned":10,"overageCredits":0,"pool":"credits","balance":90}]}',
  );
});

test("format 7 is always rendered as exactly these bytes", () => {
  expect(ANSWER_FORMAT_OVERAGE).toBe(7);
  const items = `[[20,"credits",0,${RESETS_AT},[5,2,null],15,100,15,85]]`;
  const allowed = { reason: null, single: null, details: `[null,null,${items}]` };
  expect(renderAnswer({ format: 7, subjectId: SUBJECT, verdict: allowed }, ASKED)).toBe(
    '{"allowed":true,"reason":null,"customerId":"customer \\"42\\"","feature":"image.render","quantity":2,' +
      '"creditsRequired":20,"balance":0,"resetsAt":"2026-12-01T00:00:00.000Z",' +
      '"limit":{"quantity":5,"used":2,"remaining":3,"resetsAt":null},' +
      '"overage":{"credits":100,"used":15,"remaining":85},"overageCredits":15,' +
      '"consumeId":"con_01k9znr000e00800000000007z","creditsCharged":5}',
  );
  const denied = {
    reason: "insufficient_credits" as const,
    single: null,
    details: `[0,1,[[20,"credits",5,null,[],0,null,15,null]]]`,
  };
  expect(renderAnswer({ format: 7, subjectId: SUBJECT, verdict: denied }, ASKED)).toBe(
    '{"allowed":false,"reason":"insufficient_credits","customerId":"customer \\"42\\"","feature":"image.render",' +
      '"quantity":2,"creditsRequired":20,"balance":5,"resetsAt":null,"limit":null,' +
      '"overage":{"credits":null,"used":15,"remaining":null},"overageCredits":0,"affordableQuantity":1,' +
      '"consumeId":null,"creditsCharged":0}',
  );
});

test("reading an unknown response format throws an error", () => {
  for (const format of [0, 8]) {
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
