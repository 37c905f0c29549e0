import fc from "fast-check";
import { expect, test } from "vitest";
import { type CatalogChange, type CatalogComparison, compareCatalogs } from "./compare-catalogs.ts";
import type { CatalogContent } from "./content.ts";
import { type CatalogDocument, readDocument, toDocument } from "./document.ts";

const EMPTY: CatalogContent = { pools: [], features: [], plans: [], eventKeys: [], defaultPlan: null };

const name = fc.constantFrom("One", "Two");
const pool = fc.constantFrom("credits", "seconds");
const featureKey = fc.constantFrom("f1", "f2", "f3");
const planKey = fc.constantFrom("p1", "p2", "p3");
const period = fc.constantFrom("day" as const, "month" as const);
const cost = fc.record({ credits: fc.nat(2), per: fc.integer({ min: 1, max: 2 }) });
const listOf = <T>(item: fc.Arbitrary<T>, by: (value: T) => string) =>
  fc.uniqueArray(item, { selector: by, maxLength: 3 });
const keyOf = (thing: { key: string }): string => thing.key;
const archived = fc.boolean();
const thresholds = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 3 });
const unit = fc.constantFrom("image", null);

const documents: fc.Arbitrary<CatalogDocument> = fc.record(
  {
    pools: fc
      .tuple(fc.option(thresholds, { nil: undefined }), fc.option(thresholds, { nil: undefined }))
      .map((lists) =>
        ["credits", "seconds"].map((key, index) => {
          const lowBalances = lists[index];
          return { key, name: key, ...(lowBalances === undefined ? {} : { lowBalances }) };
        }),
      ),
    features: listOf(
      fc.record(
        { key: featureKey, name, unit, pool, cost, archived },
        { requiredKeys: ["key", "name", "cost"] },
      ),
      keyOf,
    ),
    plans: listOf(
      fc.record({
        key: planKey,
        name,
        allowances: listOf(
          fc.record({ pool, credits: fc.integer({ min: 1, max: 3 }), period, rollover: fc.nat(1) }),
          (allowance) => allowance.pool,
        ),
        features: listOf(
          fc.record(
            {
              feature: featureKey,
              limit: fc.option(fc.record({ quantity: fc.nat(3), period })),
              pinned: fc.record({ pool, cost }),
            },
            { requiredKeys: ["feature"] },
          ),
          (included) => included.feature,
        ),
        archived,
      }),
      keyOf,
    ),
    eventKeys: listOf(fc.record({ key: name, name, unit }), keyOf),
    defaultPlan: fc.option(planKey),
  },
  { requiredKeys: ["pools"] },
);

function afterOf(changes: readonly CatalogChange[]): CatalogContent {
  const content = { pools: [], features: [], plans: [], eventKeys: [] } as Record<string, object[]>;
  const lists = { pool: "pools", feature: "features", plan: "plans", event_key: "eventKeys" } as const;
  let defaultPlan: string | null = null;
  for (const change of changes) {
    if (change.noun === "default_plan") defaultPlan = change.after.plan;
    else content[lists[change.noun]]?.push(change.after);
  }
  return { ...content, defaultPlan } as unknown as CatalogContent;
}

const compare = (
  current: CatalogContent,
  document: CatalogDocument,
  archiveMissing = false,
): CatalogComparison => compareCatalogs(current, readDocument(document), { archiveMissing });

/** The catalog after applying these files. Rejected files change nothing. */
function applyAll(files: readonly CatalogDocument[]): CatalogContent {
  return files.reduce((current, file) => {
    const compared = compare(current, file);
    return compared.kind === "comparable" ? afterOf(compared.changes) : current;
  }, EMPTY);
}

const isQuiet = (compared: CatalogComparison): boolean =>
  compared.kind === "comparable" && compared.changes.every(({ change }) => change === "unchanged");

test("a file applied a second time changes nothing", () => {
  fc.assert(
    fc.property(
      fc.array(documents, { maxLength: 3 }),
      documents,
      fc.boolean(),
      (files, file, archiveMissing) => {
        const first = compare(applyAll(files), file, archiveMissing);
        fc.pre(first.kind === "comparable");
        expect(isQuiet(compare(afterOf(first.changes), file, archiveMissing))).toBe(true);
      },
    ),
  );
});

test("applying an export changes nothing in its source environment and recreates the catalog in an empty one", () => {
  fc.assert(
    fc.property(fc.array(documents, { minLength: 1, maxLength: 4 }), (files) => {
      const here = applyAll(files);
      const exported = toDocument(here);
      expect(isQuiet(compare(here, exported, true))).toBe(true);
      const there = compare(EMPTY, exported);
      expect(there.kind === "comparable" && afterOf(there.changes)).toEqual(here);
      expect(toDocument(applyAll([exported]))).toEqual(exported);
    }),
  );
});

test("applying a file without `archiveMissing` keeps items and lists that the file does not contain", () => {
  fc.assert(
    fc.property(fc.array(documents, { maxLength: 3 }), documents, (files, file) => {
      const current = applyAll(files);
      const compared = compare(current, file);
      fc.pre(compared.kind === "comparable");
      const after = afterOf(compared.changes);
      for (const list of ["features", "plans", "eventKeys"] as const) {
        const mentioned = new Set(file[list]?.map(({ key }) => key));
        const left = current[list].filter(({ key }) => !mentioned.has(key));
        expect(after[list]).toEqual(expect.arrayContaining([...left]));
      }
    }),
  );
});

test("a pool without `lowBalances` in the file keeps its thresholds, and others are sorted", () => {
  fc.assert(
    fc.property(fc.array(documents, { maxLength: 3 }), documents, (files, file) => {
      const current = applyAll(files);
      const compared = compare(current, file);
      fc.pre(compared.kind === "comparable");
      for (const { key, lowBalances } of file.pools ?? []) {
        const before = current.pools.find((known) => known.key === key)?.lowBalances ?? [];
        const after = afterOf(compared.changes).pools.find((known) => known.key === key);
        expect(after?.lowBalances).toEqual(lowBalances?.toSorted((a, b) => b - a) ?? before);
      }
    }),
  );
});
