import fc from "fast-check";
import { expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../test/harness.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { hexUuids, integers, smallints, texts, timestamps, uuids } from "./binary-array.ts";

/** Returns the elements of an array as the server reads them. */
async function readBack(
  database: TestDatabase,
  type: string,
  array: Buffer,
  column = "v",
): Promise<unknown[]> {
  const rows = await database.query(
    `select ${column} as v from unnest($1::${type}[]) with ordinality as u (v, position) order by position`,
    [array],
  );
  return rows.map((row) => row["v"]);
}

/** Checks that the server returns random arrays unchanged, including an empty array. */
async function expectRoundTrip<T>(
  element: fc.Arbitrary<T>,
  read: (values: T[]) => Promise<unknown[]>,
): Promise<void> {
  expect(await read([])).toEqual([]);
  await fc.assert(
    fc.asyncProperty(fc.array(element, { minLength: 1, maxLength: 50 }), async (values) => {
      expect(await read(values)).toEqual(values);
    }),
    { numRuns: 50 },
  );
}

test("integers reach the server unchanged", async () => {
  const database = await createDatabase();
  await expectRoundTrip(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (values) =>
    readBack(database, "integer", integers(values)),
  );
});

test("smallints reach the server unchanged", async () => {
  const database = await createDatabase();
  await expectRoundTrip(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }), (values) =>
    readBack(database, "smallint", smallints(values)),
  );
});

test("uuids reach the server unchanged, from bytes and from hexadecimal digits", async () => {
  const database = await createDatabase();
  const digits = (values: string[]): string[] => values.map((value) => value.replaceAll("-", ""));
  await expectRoundTrip(fc.uuid(), (values) =>
    readBack(database, "uuid", uuids(digits(values).map((value) => Buffer.from(value, "hex")))),
  );
  await expectRoundTrip(fc.uuid(), (values) => readBack(database, "uuid", hexUuids(digits(values))));
});

test("texts reach the server unchanged: null, empty, quoted, and in any script", async () => {
  const database = await createDatabase();
  const special = fc.constantFrom(
    null,
    "",
    "NULL",
    "null",
    '"',
    "\\",
    "{}",
    ",",
    "'",
    "ü",
    "漢字",
    "😀",
    "e\u0301",
  );
  const any = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"));
  await expectRoundTrip(fc.oneof(special, any), (values) => readBack(database, "text", texts(values)));
});

test("timestamps reach the server with millisecond precision, even far in the past and future", async () => {
  const database = await createDatabase();
  const edges = [
    0,
    -1,
    Date.UTC(2000, 0, 1),
    Date.UTC(2000, 0, 1) - 1,
    Date.UTC(1000, 0, 1),
    Date.UTC(9999, 11, 31),
  ];
  const any = fc.integer({ min: Date.UTC(-4000, 0, 1), max: Date.UTC(200_000, 0, 1) });
  await expectRoundTrip(fc.oneof(fc.constantFrom(...edges), any), async (values) => {
    const array = timestamps(values.map((value) => brandAs<Instant>(value)));
    return (await readBack(database, "timestamptz", array, "(extract(epoch from v) * 1000)::bigint")).map(
      Number,
    );
  });
});
