#!/usr/bin/env node
// Turns any CSV file into an import file for Purser, using a map of columns. Node.js 24, no dependencies.
//
//   node csv-map.mjs balances.csv map.json > customers.csv
//
// See README.md for the map.
import { readFileSync } from "node:fs";

const COLUMNS = [
  "customerId",
  "name",
  "email",
  "billingReference",
  "plan",
  "anchor",
  "planEndsAt",
  "pool",
  "allowanceRemaining",
  "credits",
  "kind",
  "expiresAt",
  "reference",
];

const [, , inputFile, mapFile] = process.argv;
if (inputFile === undefined || mapFile === undefined) stop("usage: csv-map.mjs INPUT.csv MAP.json");

const map = JSON.parse(readFileSync(mapFile, "utf8"));
for (const column of Object.keys(map))
  if (!COLUMNS.includes(column)) stop(`${column} is not a column of Purser`);
if (map.customerId === undefined) stop("the map has no customerId");
const columns = COLUMNS.filter((column) => map[column] !== undefined);

const [header, ...records] = parseCsv(readFileSync(inputFile, "utf8").replace(/^\uFEFF/, ""));
const rows = records.map((record, index) => {
  if (record.length !== header.length)
    stop(`row ${index + 2} has ${record.length} columns instead of ${header.length}`);
  return columns.map((column) => toValue(column, map[column], record, index + 2));
});

// The rows of a customer must be consecutive.
const id = columns.indexOf("customerId");
const grouped = [...Map.groupBy(rows, (row) => row[id]).values()].flat();
for (const row of [columns, ...grouped]) console.log(row.map(toCell).join(","));

/** `"source"`, or `{column, value, values, time, round}`. */
function toValue(column, rule, record, row) {
  const { column: source, value, values, time, round } = typeof rule === "string" ? { column: rule } : rule;
  if (value !== undefined) return String(value);
  const index = header.indexOf(source);
  if (index < 0) stop(`${inputFile} has no column ${source}, which the map needs for ${column}`);
  const text = record[index].trim();
  if (text === "") return "";
  if (values !== undefined)
    return values[text] ?? stop(`row ${row}: the map has no value for ${source} ${text}`);
  if (time !== undefined) return toTime(text, time) ?? stop(`row ${row}: ${source} is not a time: ${text}`);
  return round === undefined
    ? text
    : (roundUp(text) ?? stop(`row ${row}: ${source} is not an amount: ${text}`));
}

/** `seconds` and `milliseconds` since 1970, `date` for 2026-01-31, in UTC. */
function toTime(text, form) {
  if (form === "date") return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : null;
  const factor = { seconds: 1_000, milliseconds: 1 }[form] ?? stop(`${form} is not a time format`);
  return /^\d{1,14}$/.test(text) ? new Date(Number(text) * factor).toISOString() : null;
}

/** Purser uses whole credits only. Negative balances become 0. */
function roundUp(text) {
  if (/^-\d+(\.\d+)?$/.test(text)) return "0";
  const [, whole, part = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  return String(BigInt(whole) + (/[1-9]/.test(part) ? 1n : 0n));
}

/** RFC 4180: commas, double quotes, and line breaks in quotes. */
function parseCsv(text) {
  const cells = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
  const found = [[]];
  for (
    let match = cells.exec(text);
    match !== null && cells.lastIndex <= text.length;
    match = cells.exec(text)
  ) {
    const [, cell, end] = match;
    found.at(-1).push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "") return found.filter((record) => record.length > 1 || record[0] !== "");
    if (end !== ",") found.push([]);
  }
  return stop(`${inputFile} is not CSV near row ${found.length}`);
}

function toCell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function stop(text) {
  console.error(`csv-map: ${text}`);
  process.exit(1);
}
