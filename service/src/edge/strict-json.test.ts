import fc from "fast-check";
import { expect, test } from "vitest";
import { parseStrictJson } from "./strict-json.ts";

const refusalOf = (text: string): string | null => {
  const parsed = parseStrictJson(text);
  return parsed.kind === "refused" ? parsed.why : null;
};

test("every value written by JSON.stringify is parsed unchanged, with any whitespace", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("", " ", "\t", "\n"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      // fast-check generates `__proto__` occasionally.
      fc.pre(!text.includes("__proto__") && !text.includes("constructor"));
      expect(parseStrictJson(text)).toEqual({ kind: "value", value: JSON.parse(text) });
    }),
  );
});

test("a duplicate member is rejected at any position", () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 8 });
  fc.assert(
    fc.property(object, fc.nat(), fc.jsonValue(), (value, at, other) => {
      const names = Object.keys(value);
      const name = names[at % names.length] ?? "";
      const members = names.map((key) => `${JSON.stringify(key)}:${JSON.stringify(value[key])}`);
      const text = `[1,{"a b":{${members.join(",")},${escaped(name)}:${JSON.stringify(other)}}}]`;
      fc.pre(!text.includes("__proto__") && !text.includes("constructor"));
      expect(refusalOf(text)).toMatch(/more than once/);
    }),
  );
});

/** The same name, written only with escapes. */
function escaped(name: string): string {
  const codes = Array.from({ length: name.length }, (_, i) =>
    name.charCodeAt(i).toString(16).padStart(4, "0"),
  );
  return `"${codes.map((code) => `\\u${code}`).join("")}"`;
}

test.each([
  '{"a":"\\"","b":":"}',
  '{"a":"\\\\","b":"\\\\\\""}',
  '{"a" : {"a" \n:\t{"a":1}}, "b":[{"a":1},{"a":2}]}',
  '\ufeff{"a":1}',
  '{"constructor":{"a":1},"prototype":1}',
  '":"',
  '["a:","b"]',
  "[]",
  "null",
])("%s has no duplicate member", (text) => {
  expect(parseStrictJson(text)).toEqual({ kind: "value", value: JSON.parse(text.replace("\ufeff", "")) });
});

test("a duplicate among thousands of names is rejected without a long search", () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `"n${i}":1`).join(",");
  expect(refusalOf(`{${names},"n0":2}`)).toBe(
    "An object in the body contains the same member more than once.",
  );
  expect(refusalOf(`{"n0":1,${names}}`)).toContain("`n0`");
});
