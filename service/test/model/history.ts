import fc from "fast-check";
import { type Action, actionsOf, largeAdditions } from "./actions.ts";
import { type CatalogSpec, catalogSpecs, limitedCatalogSpecs, wideCatalogSpecs } from "./catalog-spec.ts";
import { CREDITS, EVERYTHING, HOLDS, ITEMS, NEAR_CAP, OVERRIDES, VERSIONS } from "./mixes.ts";

/** A random history of a customer: a catalog, and actions with times. It stays valid when fast-check removes any step. */
export type History = {
  start: number;
  /** Whether the customer exists from the start, with an empty wallet. */
  isKnown: boolean;
  catalog: CatalogSpec;
  steps: readonly Step[];
};

export type Step = { wait: Wait; action: Action };

export type Wait =
  | { kind: "pass"; ms: number }
  /** Waits until the n-th next time at which something is due, or shortly before it. */
  | { kind: "due"; nth: number; msBefore: number }
  | { kind: "back"; ms: number };

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

const starts = fc.constantFrom(
  Date.UTC(2026, 0, 1),
  Date.UTC(2026, 0, 31),
  Date.UTC(2027, 11, 31, 23, 59, 59, 999),
  Date.UTC(2028, 1, 29, 12, 30),
  Date.UTC(2026, 4, 30, 7),
);

const waitsAhead: fc.Arbitrary<Wait> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(0, 0, 1, 5, 60 * SECOND).map((ms): Wait => ({ kind: "pass", ms })),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0.4, 1, 3, 8, 31, 45).map((days): Wait => ({ kind: "pass", ms: days * DAY })),
  },
  { weight: 1, arbitrary: fc.constantFrom(100, 366).map((days): Wait => ({ kind: "pass", ms: days * DAY })) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("due" as const),
      nth: fc.nat({ max: 2 }),
      msBefore: fc.nat({ max: 1 }),
    }),
  },
);
const waits: fc.Arbitrary<Wait> = fc.oneof(
  { weight: 16, arbitrary: waitsAhead },
  { weight: 1, arbitrary: fc.constantFrom(1, SECOND, DAY).map((ms): Wait => ({ kind: "back", ms })) },
);

/** Short waits, because most holds last only days. */
const shortWaits: fc.Arbitrary<Wait> = fc.constantFrom(0, 1, 60, 0.4 * 86_400).map((seconds) => ({
  kind: "pass",
  ms: seconds * SECOND,
}));

const historiesWith = (usual: fc.Arbitrary<Wait>): fc.Arbitrary<History> => {
  const historiesOf = (
    action: fc.Arbitrary<Action>,
    catalog: fc.Arbitrary<CatalogSpec>,
    wait: fc.Arbitrary<Wait> = usual,
  ) =>
    fc.record({
      start: starts,
      isKnown: fc.boolean(),
      catalog,
      steps: fc.array(fc.record({ wait, action }), { minLength: 1, maxLength: 40, size: "max" }),
    });
  const frequent = fc.oneof({ weight: 3, arbitrary: shortWaits }, { weight: 1, arbitrary: usual });
  // Uses a default plan and few features, so that rare cases are more common.
  const simple = catalogSpecs.map((catalog) => ({ ...catalog, defaultPlan: 0 }));
  return fc.oneof(
    { weight: 4, arbitrary: historiesOf(actionsOf(EVERYTHING), catalogSpecs) },
    { weight: 1, arbitrary: historiesOf(actionsOf(CREDITS), simple) },
    { weight: 1, arbitrary: historiesOf(actionsOf(NEAR_CAP, largeAdditions), simple) },
    { weight: 1, arbitrary: historiesOf(actionsOf(VERSIONS), simple) },
    { weight: 1, arbitrary: historiesOf(actionsOf(OVERRIDES), simple) },
    { weight: 3, arbitrary: historiesOf(actionsOf(HOLDS), simple, frequent) },
    { weight: 2, arbitrary: historiesOf(actionsOf(HOLDS), limitedCatalogSpecs, frequent) },
    { weight: 2, arbitrary: historiesOf(actionsOf(OVERRIDES), limitedCatalogSpecs) },
    { weight: 2, arbitrary: historiesOf(actionsOf(ITEMS), wideCatalogSpecs) },
    { weight: 1, arbitrary: historiesOf(actionsOf(ITEMS, largeAdditions), wideCatalogSpecs) },
  );
};

export const histories = historiesWith(waits);

/** Histories in which the clock never moves back. */
export const steadyHistories = historiesWith(waitsAhead);
