import { expect, test } from "vitest";
import { choice, searchOf, text, whole } from "../src/format/search.ts";

const read = searchOf({
  customerId: text(5),
  code: text(9, /^[a-z]+$/),
  show: choice(["all", true]),
  below: whole(1),
});

test("search parameters are converted between numbers and text to match the schema", () => {
  expect(read({ customerId: 42, code: "abc", show: true, below: "100" })).toEqual({
    customerId: "42",
    code: "abc",
    show: true,
    below: 100,
  });
});

test("invalid and unknown search parameters are dropped", () => {
  expect(read({ customerId: "too long", code: "ABC", show: "none", below: 0, other: 1 })).toEqual({});
  expect(read({ customerId: "", code: null, show: undefined, below: "-1" })).toEqual({});
});
