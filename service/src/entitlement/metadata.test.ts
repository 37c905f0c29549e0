import fc from "fast-check";
import { expect, test } from "vitest";
import { METADATA_DEPTH_MAX, parseMetadata } from "./metadata.ts";

/** Parses JSON text, because some of these values cannot be written as literals. */
const parse = (json: string) => parseMetadata(JSON.parse(json));

test("an empty object counts as absent metadata", () => {
  expect(parse("{}")).toEqual({ kind: "none" });
});

test.each([
  ["bytes are counted in the canonical text in UTF-8", '{ "b": "é",  "a": 1.0 }', { bytes: 16 }],
  ["keys are counted over all levels", '{"a":{"b":{"c":1}},"d":[{"e":1},{"e":2}]}', { keys: 6 }],
  ["array items are not keys", '{"a":[1,2,3,[4,5]]}', { keys: 1 }],
  ["a flat object has depth 1", '{"a":1,"b":"two","c":null}', { depth: 1 }],
  ["an empty object inside adds a level", '{"a":{}}', { depth: 2 }],
  ["an empty array inside adds a level", '{"a":[]}', { depth: 2 }],
  ["the deepest branch determines the depth", '{"a":[[{"b":1}]],"c":{}}', { depth: 4 }],
])("%s", (_, json, expected) => {
  expect(parse(json)).toMatchObject({ kind: "metadata", metadata: expected });
});

test("the canonical text has sorted keys, no spaces and one spelling for each number", () => {
  expect(parse('{ "b": [1.0, 1e2, -0, 0.50], "a": { "z": "\\u0041", "y": true } }')).toMatchObject({
    metadata: { canonical: '{"a":{"y":true,"z":"A"},"b":[1,100,0,0.5]}' },
  });
});

test("the canonical form preserves every JSON object and does not depend on the order of its keys", () => {
  const value = fc.dictionary(
    fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__" && !key.includes("\0")),
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom("a", "é", "😀")),
    { minKeys: 1 },
  );
  fc.assert(
    fc.property(value, (object) => {
      const reversed = Object.fromEntries(Object.entries(object).reverse());
      const [one, other] = [parseMetadata(object), parseMetadata(reversed)];
      expect(one).toEqual(other);
      expect(one.kind === "metadata" && JSON.parse(one.metadata.canonical)).toEqual({ ...object });
    }),
  );
});

test.each([
  ["a NUL in a value", '{"a":"x\\u0000y"}', "NUL"],
  ["a NUL in a key", '{"a\\u0000":1}', "NUL"],
  ["a NUL in an array", '{"a":[["\\u0000"]]}', "NUL"],
  ["a lone high surrogate in a value", '{"a":"\\ud800"}', "surrogate"],
  ["a lone low surrogate in a key", '{"a":{"\\udc00":1}}', "surrogate"],
  ["surrogates in the wrong order", '{"a":"\\udc00\\ud800"}', "surrogate"],
  ["an integer past 2^53-1", '{"a":9007199254740992}', "2^53-1"],
  ["an integer below -(2^53-1)", '{"a":-9007199254740992}', "2^53-1"],
  ["a large integer written with an exponent", '{"a":1e21}', "2^53-1"],
  ["a number outside the range of a double", '{"a":1e400}', "2^53-1"],
  ["a nested negative number outside the range of a double", '{"a":[{"b":-1e400}]}', "2^53-1"],
])("metadata with %s is rejected", (_, json, problem) => {
  expect(parse(json)).toEqual({ kind: "unusable", problem: expect.stringContaining(problem) });
});

test.each([
  ["a whole surrogate pair", '{"😀":"\\ud83d\\ude00"}'],
  ["the largest integers", '{"a":9007199254740991,"b":-9007199254740991}'],
  ["fractions", '{"a":0.1,"b":-1.5e-300}'],
  ["control characters other than NUL", '{"a":"\\u0001\\u001f\\u007f"}'],
  ["names that every object has", '{"toString":1,"constructor":2,"hasOwnProperty":3}'],
])("metadata with %s is accepted", (_, json) => {
  expect(parse(json)).toMatchObject({ kind: "metadata" });
});

const nestedObject = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const nestedArray = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

test.each([
  ["objects", nestedObject],
  ["arrays", nestedArray],
])("the depth of %s is capped, and 30,000 levels do not overflow the stack", (_, nested) => {
  expect(parse(nested(METADATA_DEPTH_MAX))).toMatchObject({ metadata: { depth: METADATA_DEPTH_MAX } });
  for (const levels of [METADATA_DEPTH_MAX + 1, 30_000]) {
    expect(parse(nested(levels))).toEqual({ kind: "unusable", problem: expect.stringContaining("deeper") });
  }
});
