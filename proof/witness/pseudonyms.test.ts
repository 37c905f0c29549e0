import { expect, test } from "vitest";
import { Pseudonyms } from "./pseudonyms.ts";

const UUIDS = ["0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "ffffffff-c3d4-4e5f-8a6b-7c8d9e0f1a2b"] as const;

test("a random value keeps its pseudonym wherever it appears", () => {
  const names = new Pseudonyms();
  const secret = `pur_live_${"a1B2".repeat(9)}zz`;
  const cursor = Buffer.from('["2027-01-29",7]').toString("base64url");
  expect(names.replace(`{"id":"${UUIDS[1]}","secret":"${secret}"}`)).toBe(
    '{"id":"uuid-1","secret":"secret-1"}',
  );
  expect(names.replace(`?cursor=${cursor} ${UUIDS[0]} ${UUIDS[1]}`)).toBe("?cursor=cursor-1 uuid-2 uuid-1");
  expect(names.replace(`{"lastFour":"Zz09","last_four":"Zz09","hash":"\\x${"0f".repeat(32)}"}`)).toBe(
    '{"lastFour":"four-1","last_four":"four-1","hash":"hash-1"}',
  );
});

test.each([
  // A consume ID: its customer number starts with zeros.
  "0190a1b2-c3d4-0000-0000-7c0000000009",
  "con_01k9zq6n2wf3rvd0m6zj8b6c1t",
  "Wednesday-evening",
  "erased:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
])("%s is not random and stays unchanged", (text) => {
  expect(new Pseudonyms().replace(text)).toBe(text);
});

test("rows are sorted without their random values, and references between them are kept", () => {
  const one = new Pseudonyms().replaceRows([`b ${UUIDS[0]}`, `a ${UUIDS[1]}`, `c ${UUIDS[0]}`]);
  const other = new Pseudonyms().replaceRows([`c ${UUIDS[1]}`, `b ${UUIDS[1]}`, `a ${UUIDS[0]}`]);
  expect(one).toEqual(["a uuid-1", "b uuid-2", "c uuid-2"]);
  expect(other).toEqual(one);
});
