import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { type Format, formatHeader, formatLines, type Line } from "./format.ts";
import type { Cell } from "./source.ts";

const COLUMNS = [{ name: "value", about: "", of: (cell: Cell) => cell }];
const textOf = (format: Format, lines: Line<Cell>[]): string =>
  Buffer.concat([...formatLines(format, COLUMNS, lines)]).toString();
const csv = (...cells: Cell[]): string =>
  formatHeader("csv", COLUMNS) +
  textOf(
    "csv",
    cells.map((row) => ({ row, cursor: "WzFd" })),
  );

test.each([
  ["=1+1", "'=1+1"],
  ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t'=1"],
  ["\r=1", "'\r'=1"],
  ["\n=1", "'\n'=1"],
  ['x;=HYPERLINK("http://x","y")', `x;'=HYPERLINK("http://x","y")`],
  ["x\t@SUM(A1)", "x\t'@SUM(A1)"],
  ["x\n-1", "x\n'-1"],
  ["a; b", "a; b"],
  ["＝1+1", "'＝1+1"],
  ["a=1", "a=1"],
  [" =1", " =1"],
  ["'", "'"],
  ["", ""],
  ['two\nlines, and a "quote"', 'two\nlines, and a "quote"'],
  [-30, "-30"],
  [0, "0"],
  [null, ""],
  [{ json: '{"a":"=1"}' }, '{"a":"=1"}'],
])("a cell of %j is written to CSV as %j", (cell, text) => {
  expect(parse(csv(cell), { columns: true })).toEqual([{ value: text, cursor: "WzFd" }]);
});

test("CSV does not quote numbers and ends each line with the cursor", () => {
  expect(csv(-30)).toBe("value,cursor\n-30,WzFd\n");
});

test("NDJSON contains the original values", () => {
  const cells: Cell[] = ["=1+1", -30, null, { json: '{"a":[1]}' }, "two\nlines"];
  const lines = cells.map((row) => ({ row, cursor: "WzFd" }));
  const text = formatHeader("ndjson", COLUMNS) + textOf("ndjson", lines);
  const values = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).value);
  expect(values).toEqual(["=1+1", -30, null, { a: [1] }, "two\nlines"]);
});

test("lines of any length are written completely, in small chunks", () => {
  const cells = ["ö".repeat(40_000), "x", "€".repeat(30_000), "y".repeat(65_000), "z"];
  const chunks = [
    ...formatLines(
      "ndjson",
      COLUMNS,
      cells.map((row) => ({ row, cursor: "WzFd" })),
    ),
  ];
  const lines = Buffer.concat(chunks).toString().trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).value)).toEqual(cells);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(91_000);
});
