import { expect, test } from "vitest";
import { PROBLEMS, type ProblemCode } from "../../service/src/edge/problem.ts";
import { readPage } from "./blocks.ts";
import { readRetryTable } from "./retry-table.ts";

/** Codes for unknown paths and methods, which no route lists. */
const OF_NO_ROUTE: readonly ProblemCode[] = ["not_found", "method_not_allowed"];

const table = readRetryTable();
const coded = table.filter(({ code }) => code !== null);

test("every code of the runtime API is in the retry table once, with its status", () => {
  const described = readPage("openapi/runtime.json").matchAll(/`(\w+)`: /g);
  const codes = new Set([...described].map(([, code = ""]) => code).filter((code) => code in PROBLEMS));
  expect(coded.map(({ code }) => code).sort()).toEqual([...codes, ...OF_NO_ROUTE].sort());
  const wrong = coded.filter(({ code, status }) => PROBLEMS[code as ProblemCode].status !== status);
  expect(wrong).toEqual([]);
});

test("the retry table retries exactly 429 and 5xx", () => {
  const isServers = (status: number) => status === 429 || status >= 500;
  expect(table.filter(({ status, isRetried }) => isServers(status) !== isRetried)).toEqual([]);
  expect(table.filter(({ isRetried }) => isRetried).map(({ status }) => status)).toEqual([
    429, 500, 502, 504, 503, 503, 503,
  ]);
});
