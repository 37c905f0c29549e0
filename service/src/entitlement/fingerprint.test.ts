import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readConsumption } from "../runtime/consume/route.ts";
import type { QuestionBody } from "../runtime/consume/schema.ts";
import { readEvent } from "../runtime/events/read-event.ts";
import type { EventBody } from "../runtime/events/schema.ts";
import { fingerprintConsumption } from "./consumption.ts";
import { fingerprint } from "./fingerprint.ts";
import { fingerprintEvent } from "./usage-event.ts";

const BODY: EventBody = { customerId: "customer_1", event: "tokens", quantity: 3 };

const print = (body: EventBody) => fingerprintEvent(readEvent(body));
const printConsume = (body: Omit<QuestionBody, "customerId">) =>
  fingerprintConsumption(readConsumption({ customerId: "customer_1", ...body }), null);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

test("a fingerprint is the first 16 bytes of SHA-256 over the canonical request, with the timestamp in milliseconds", () => {
  const body = {
    timestamp: "2026-11-14T10:00:00Z",
    quantity: 3,
    metadata: { b: [1, "zwei"], a: { nested: null } },
    event: 'a "quoted" key',
    customerId: "größe",
  };
  expect(print(body)).toBe(
    sha256(
      '{"customerId":"größe","event":"a \\"quoted\\" key","metadata":{"a":{"nested":null},"b":[1,"zwei"]},' +
        '"quantity":3,"timestamp":1794650400000}',
    ),
  );
});

test("an absent field is not hashed, so a new optional field changes no existing fingerprint", () => {
  expect(print(BODY)).toBe(sha256('{"customerId":"customer_1","event":"tokens","quantity":3}'));
  expect(
    fingerprint([
      ["a", "1"],
      ["later", null],
    ]),
  ).toBe(fingerprint([["a", "1"]]));
});

test("the order of fields does not change the fingerprint", () => {
  const body = { ...BODY, metadata: { a: 1 }, timestamp: "2026-11-14T10:00:00Z" };
  const orders = fc.shuffledSubarray(Object.entries(body), { minLength: Object.keys(body).length });
  fc.assert(
    fc.property(orders, (entries) => {
      expect(print(Object.fromEntries(entries) as EventBody)).toBe(print(body));
    }),
  );
});

test("empty metadata and absent metadata have the same fingerprint", () => {
  expect(print({ ...BODY, metadata: {} })).toBe(print(BODY));
});

test("the order of metadata keys and the spelling of numbers do not change the fingerprint", () => {
  const one = JSON.parse('{"a":1.0,"b":{"c":1e2,"d":2}}');
  const other = JSON.parse('{"b":{"d":2,"c":100},"a":1}');
  expect(print({ ...BODY, metadata: one })).toBe(print({ ...BODY, metadata: other }));
});

test("different spellings of the same timestamp have the same fingerprint", () => {
  const spellings = [
    "2026-11-14T10:00:00Z",
    "2026-11-14t10:00:00z",
    "2026-11-14T10:00:00.000Z",
    "2026-11-14T10:00:00.000000001Z",
    "2026-11-14T10:00:00-00:00",
    "2026-11-14T15:30:00+05:30",
    "2026-11-14T02:00:00.0-08:00",
  ];
  expect(new Set(spellings.map((timestamp) => print({ ...BODY, timestamp }))).size).toBe(1);
});

test("requests that differ in meaning have different fingerprints", () => {
  const bodies: EventBody[] = [
    BODY,
    { ...BODY, customerId: "Customer_1" },
    { ...BODY, customerId: "customer_1 " },
    { ...BODY, event: "token" },
    { ...BODY, quantity: 4 },
    { ...BODY, metadata: { a: 1 } },
    { ...BODY, metadata: { a: "1" } },
    { ...BODY, metadata: { a: null } },
    { ...BODY, metadata: { a: [] } },
    { ...BODY, metadata: { a: {} } },
    { ...BODY, timestamp: "2026-11-14T10:00:00Z" },
    { ...BODY, timestamp: "2026-11-14T10:00:00.001Z" },
    // A composed and a decomposed letter give two different IDs.
    { ...BODY, customerId: "\u00e9" },
    { ...BODY, customerId: "e\u0301" },
  ];
  expect(new Set(bodies.map(print)).size).toBe(bodies.length);
});

test("the idempotency key is not part of the fingerprint", () => {
  expect(print({ ...BODY, idempotencyKey: "one" })).toBe(print({ ...BODY, idempotencyKey: "two" }));
});

test("a consume request for one feature has the same fingerprint as before items were supported", () => {
  expect(printConsume({ feature: "image" })).toBe(sha256('{"customerId":"customer_1","feature":"image"}'));
  expect(printConsume({ feature: "image", quantity: 1 })).toBe(printConsume({ feature: "image" }));
  expect(printConsume({ feature: "image", quantity: 2, metadata: { a: 1 } })).toBe(
    sha256('{"customerId":"customer_1","feature":"image","metadata":{"a":1},"quantity":2}'),
  );
});

test("items are hashed with their features, quantities and order", () => {
  const items = [{ feature: "text", quantity: 1_500 }, { feature: "image" }];
  expect(printConsume({ items, metadata: { a: 1 } })).toBe(
    sha256('{"customerId":"customer_1","items":[["text",1500],["image",1]],"metadata":{"a":1}}'),
  );
  expect(printConsume({ items })).toBe(
    printConsume({
      items: [
        { quantity: 1_500, feature: "text" },
        { feature: "image", quantity: 1 },
      ],
    }),
  );
});

test("different consume requests have different fingerprints", () => {
  const [image, text] = [{ feature: "image" }, { feature: "text" }];
  const bodies: Omit<QuestionBody, "customerId">[] = [
    { feature: "image" },
    { feature: "image", quantity: 2 },
    { feature: "text" },
    // A request with `items` gets a response with `items`, so this is a different request.
    { items: [image] },
    { items: [text] },
    { items: [image, text] },
    { items: [text, image] },
    { items: [image, { ...text, quantity: 2 }] },
    { items: [{ ...image, quantity: 2 }, text] },
    { items: [image, text, { feature: "disk" }] },
    { items: [image, text], metadata: { a: 1 } },
    { items: [{ feature: 'image",1],["text' }] },
  ];
  expect(new Set(bodies.map(printConsume)).size).toBe(bodies.length);
});
