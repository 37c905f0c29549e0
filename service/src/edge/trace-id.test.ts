import { expect, test } from "vitest";
import { readTraceId } from "./trace-id.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test.each([
  [`00-${TRACE}-${PARENT}-01`, TRACE],
  [`00-${TRACE}-${PARENT}-00`, TRACE],
  [`cc-${TRACE}-${PARENT}-01-later.fields`, TRACE],
  [`00-${TRACE}-${PARENT}-01-later`, null],
  [`ff-${TRACE}-${PARENT}-01`, null],
  [`00-${"0".repeat(32)}-${PARENT}-01`, null],
  [`00-${TRACE}-${"0".repeat(16)}-01`, null],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, null],
  [`00-${TRACE}-${PARENT}`, null],
  ["", null],
  [undefined, null],
])("the trace ID of %s is %s", (traceparent, expected) => {
  expect(readTraceId(traceparent === undefined ? {} : { traceparent })).toBe(expected);
});
