import fc from "fast-check";
import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";

const BODY = { customerId: "ada", feature: "image.render", idempotencyKey: "key-1" };

test("several errors in one body are reported together", async () => {
  const { consume } = await setupCredits();
  const { status, body } = await consume({ feature: "", quantity: 0, metadata: [], unknown: 1 });
  expect(status).toBe(400);
  expect(body["errors"]).toHaveLength(6);
  expect(body["errors"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ field: "customerId", code: "required" }),
      expect.objectContaining({ field: "idempotencyKey", code: "required" }),
      expect.objectContaining({ field: "feature", code: "too_short" }),
      expect.objectContaining({ field: "quantity", code: "too_small" }),
      expect.objectContaining({ field: "metadata", code: "wrong_type" }),
      expect.objectContaining({ field: "unknown", code: "unknown_field" }),
    ]),
  );
});

test("a check does not need an idempotency key, but a consume request does", async () => {
  const { check, consume } = await setupCredits();
  const { idempotencyKey: _, ...unkeyed } = BODY;
  expect((await check(unkeyed)).status).toBe(200);
  expect((await consume(unkeyed)).body).toMatchObject({
    code: "invalid_request",
    errors: [{ field: "idempotencyKey", code: "required" }],
  });
});

test("event fields are rejected in a consume request, and consume fields in an event", async () => {
  const { consume, record } = await setupCredits();
  const event = { customerId: "ada", event: "image.render", quantity: 1 };
  expect((await consume({ ...BODY, event: "image.render" })).status).toBe(400);
  expect((await consume({ ...event, idempotencyKey: "key-1" })).status).toBe(400);
  expect((await record({ ...event, feature: "image.render" })).status).toBe(400);
  expect((await record(BODY)).status).toBe(400);
});

const good = fc.record({
  customerId: fc.constantFrom("ada", "nobody"),
  feature: fc.constantFrom("image.render", "export", "video.render"),
  quantity: fc.integer({ min: 1, max: 1_000_000 }),
  idempotencyKey: fc.uuid(),
});
const notText = fc.jsonValue().filter((value) => typeof value !== "string");
const notQuantity = fc
  .jsonValue()
  .filter((value) => !(Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1_000_000));
const broken = fc.string({ unit: "binary", maxLength: 30 });
const fault: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({
    customerId: fc.oneof(
      notText,
      broken.map((text) => `${text}\0`),
      fc.constant("\ud800"),
    ),
  }),
  fc.record({
    feature: fc.oneof(
      notText,
      broken.map((text) => `\udc00${text}`),
      fc.constant(""),
    ),
  }),
  fc.record({
    quantity: fc.oneof(
      notQuantity,
      fc.double().filter((value) => !Number.isInteger(value)),
    ),
  }),
  fc.record({
    idempotencyKey: fc.oneof(
      notText,
      broken.map((text) => `${text} `),
    ),
  }),
  fc.record({ metadata: fc.jsonValue().filter((value) => typeof value !== "object" || value === null) }),
  fc.constantFrom({ customerId: undefined }, { feature: undefined }, { idempotencyKey: undefined }),
  fc.dictionary(
    broken.map((name) => `?${name}`),
    fc.jsonValue(),
    { minKeys: 1 },
  ),
);
const badBody = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(good, fault).map(([body, replaced]) => JSON.stringify({ ...body, ...replaced })),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.tuple(good, fc.nat()).map(([body, n]) => JSON.stringify(body).slice(0, n % 60)),
  },
  { weight: 1, arbitrary: broken },
);

test("each of 2,000 invalid bodies gets 400, charges nothing and leaves no row", {
  timeout: 60_000,
}, async () => {
  const { consume, database } = await setupCredits();
  await fc.assert(
    fc.asyncProperty(fc.array(badBody, { minLength: 100, maxLength: 100 }), async (bodies) => {
      const replies = await Promise.all(bodies.map((body) => consume(body)));
      const answers = replies.map(({ status, text }, index) => ({ status, text, body: bodies[index] }));
      expect(answers.filter(({ status }) => status !== 400)).toEqual([]);
    }),
    { numRuns: 20 },
  );
  expect(await database.count("cell.customers")).toBe(1);
  expect(await database.count("cell.keyed_requests")).toBe(0);
  expect(await database.count("cell.ledger")).toBe(1);
  expect(await database.count("cell.denials")).toBe(0);
});
