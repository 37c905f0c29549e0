import fc from "fast-check";
import { expect, test } from "vitest";
import { BODIES } from "../../../test/effort.ts";
import { type Setup, setup } from "../../../test/harness.ts";

const EVENT = { customerId: "customer_1", event: "tokens", quantity: 1 };

async function expectNothingStored({ database }: Setup): Promise<void> {
  for (const table of ["cell.events", "cell.customers", "cell.keyed_requests"]) {
    expect([table, await database.count(table)]).toEqual([table, 0]);
  }
}

const deep = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

/** Invalid values of each field, with the expected error code. */
const BAD_VALUES: [field: string, values: [unknown, code: string][]][] = [
  [
    "customerId",
    [
      [undefined, "required"],
      [null, "wrong_type"],
      [42, "wrong_type"],
      [["customer_1"], "wrong_type"],
      ["", "too_short"],
      ["x".repeat(256), "too_long"],
      ["😀".repeat(256), "too_long"],
      ["a\0b", "wrong_form"],
      ["\ud83d", "wrong_form"],
    ],
  ],
  [
    "event",
    [
      [undefined, "required"],
      [null, "wrong_type"],
      [true, "wrong_type"],
      ["", "too_short"],
      ["x".repeat(121), "too_long"],
      ["\0", "wrong_form"],
      ["\udc00x", "wrong_form"],
    ],
  ],
  [
    "quantity",
    [
      [undefined, "required"],
      [null, "wrong_type"],
      ["1", "wrong_type"],
      [1.5, "wrong_type"],
      [true, "wrong_type"],
      [0, "too_small"],
      [-1, "too_small"],
      [1_000_001, "too_large"],
      [2 ** 53, "too_large"],
    ],
  ],
  [
    "metadata",
    [
      [null, "wrong_type"],
      ["text", "wrong_type"],
      [[], "wrong_type"],
      [{ a: "\0" }, "wrong_form"],
      [{ "\ud800": 1 }, "wrong_form"],
      [{ a: [2 ** 53] }, "wrong_form"],
      [deep(33), "wrong_form"],
    ],
  ],
  [
    "timestamp",
    [
      [null, "wrong_type"],
      [1_794_650_400_000, "wrong_type"],
      ["", "wrong_form"],
      ["2026-11-14", "wrong_form"],
      ["2026-11-14T10:00:00", "wrong_form"],
      ["2026-02-31T10:00:00Z", "wrong_form"],
      ["tomorrow", "wrong_form"],
    ],
  ],
  [
    "idempotencyKey",
    [
      [null, "wrong_type"],
      [7, "wrong_type"],
      ["x".repeat(256), "too_long"],
      ["two words", "wrong_form"],
      ["line\n", "wrong_form"],
      ["größe", "wrong_form"],
      ["\u007f", "wrong_form"],
    ],
  ],
  ["unknown", [[1, "unknown_field"]]],
  ["customerID", [["customer_1", "unknown_field"]]],
  ["feature", [[null, "unknown_field"]]],
  ["hasOwnProperty", [["x", "unknown_field"]]],
  ["toString", [["x", "unknown_field"]]],
];

test.each(BAD_VALUES)("an invalid `%s` is reported with a code for each error", async (field, values) => {
  const parts = await setup();
  for (const [value, code] of values) {
    const reply = await parts.record({ ...EVENT, idempotencyKey: "key", [field]: value });
    const { errors, ...problem } = reply.body;
    expect([value, reply.status, errors]).toEqual([
      value,
      400,
      [{ field, code, message: expect.any(String) }],
    ]);
    expect(problem).toMatchObject({
      code: "invalid_request",
      status: 400,
      detail: expect.stringContaining(field),
    });
  }
  await expectNothingStored(parts);
});

test("metadata nested as deep as the body allows is rejected without a stack overflow", async () => {
  const parts = await setup();
  const metadata = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
  const reply = await parts.record(`{"customerId":"c","event":"e","quantity":1,"metadata":${metadata}}`);
  expect(reply.status).toBe(400);
  expect(reply.body["errors"]).toMatchObject([{ field: "metadata", code: "wrong_form" }]);
});

test("several errors are reported together, at most ten", async () => {
  const { record } = await setup();
  const { body } = await record({ event: "", quantity: 0, unknown: 1 });
  expect(body["errors"]).toHaveLength(4);
  expect(body["errors"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ field: "customerId", code: "required" }),
      expect.objectContaining({ field: "event", code: "too_short" }),
      expect.objectContaining({ field: "quantity", code: "too_small" }),
      expect.objectContaining({ field: "unknown", code: "unknown_field" }),
    ]),
  );
  const unknown = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`${"x".repeat(100)}${i}`, 1]));
  const reply = await record({ ...EVENT, ...unknown(30) });
  expect(reply.body["errors"]).toHaveLength(10);
  expect(reply.text.length).toBeLessThan(4_000);
  // For a large invalid body only the first error is reported.
  expect((await record({ ...EVENT, ...unknown(500) })).body["errors"]).toHaveLength(1);
});

test("the error for a time without an offset suggests Z", async () => {
  const { record } = await setup();
  const reply = await record({ ...EVENT, timestamp: "2026-11-14T10:00:00" });
  expect(reply.body["detail"]).toContain("append Z");
});

test("values at the limits of each field are accepted", async () => {
  const { database, record } = await setup();
  const edges = [
    { customerId: "x" },
    { customerId: "😀".repeat(255) },
    { event: "é".repeat(120) },
    { quantity: 1_000_000 },
    { idempotencyKey: "!" },
    { idempotencyKey: "~".repeat(255) },
    { metadata: {} },
  ];
  for (const edge of edges) expect([edge, (await record({ ...EVENT, ...edge })).status]).toEqual([edge, 200]);
  expect(await database.count("cell.events")).toBe(edges.length);
});

const good = fc.record({
  customerId: fc.string({ minLength: 1, maxLength: 20 }),
  event: fc.string({ minLength: 1, maxLength: 20 }),
  quantity: fc.integer({ min: 1, max: 1_000_000 }),
  idempotencyKey: fc.uuid(),
});
const notText = fc.jsonValue().filter((value) => typeof value !== "string");
const notQuantity = fc
  .jsonValue()
  .filter((value) => !(Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1_000_000));
const notObject = fc
  .jsonValue()
  .filter((value) => typeof value !== "object" || value === null || Array.isArray(value));
const broken = fc.string({ unit: "binary", maxLength: 30 });
/** A valid event with one invalid field. */
const fault: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({
    customerId: fc.oneof(
      notText,
      broken.map((text) => `${text}\0`),
      broken.map((text) => `${text}\ud800`),
    ),
  }),
  fc.record({
    event: fc.oneof(
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
  fc.record({ metadata: fc.oneof(notObject, fc.integer({ min: 6, max: 200 }).map(deep)) }),
  fc.record({ metadata: fc.dictionary(broken, fc.jsonValue()).map((value) => ({ ...value, bad: 1e300 })) }),
  fc.record({
    timestamp: fc.oneof(
      notText,
      broken,
      fc.integer({ max: 1e12 }).map((ms) => new Date(ms).toISOString()),
    ),
  }),
  fc.record({
    idempotencyKey: fc.oneof(
      notText,
      broken.map((text) => `${text} `),
    ),
  }),
  fc.constantFrom({ customerId: undefined }, { event: undefined }, { quantity: undefined }),
  fc.dictionary(
    broken.map((name) => `?${name}`),
    fc.jsonValue(),
    { minKeys: 1 },
  ),
);
/** Bodies that are not an event: other JSON, truncated JSON, and text that is not JSON. */
const badBody: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(good, fault).map(([event, replaced]) => JSON.stringify({ ...event, ...replaced })),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.tuple(good, fc.nat()).map(([event, n]) => {
      const text = JSON.stringify(event);
      return text.slice(0, n % text.length);
    }),
  },
  { weight: 1, arbitrary: broken },
);

test("an invalid body always gets 400 or 422 and leaves no row", {
  timeout: 180_000,
}, async () => {
  const parts = await setup();
  await fc.assert(
    fc.asyncProperty(fc.array(badBody, { minLength: 100, maxLength: 100 }), async (bodies) => {
      const replies = await Promise.all(bodies.map((body) => parts.record(body)));
      const answers = replies.map(({ status, text }, index) => ({ status, text, body: bodies[index] }));
      expect(answers.filter(({ status }) => status !== 400 && status !== 422)).toEqual([]);
    }),
    { numRuns: BODIES / 100 },
  );
  await expectNothingStored(parts);
});
