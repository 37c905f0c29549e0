import fc from "fast-check";
import type { VersionReach } from "../../src/entitlement/catalog.ts";
import {
  type OverridesSpec,
  overridesSpecs,
  reaches,
  type VersionSpec,
  versionSpecs,
} from "./catalog-spec.ts";
import { ADDABLE_BALANCE_MAX } from "./credits.ts";
import type { CreditSource } from "./request.ts";

/** An action in a history. Numbers select a plan, feature or pool by position, modulo their count. */
export type Action =
  | { kind: "check" | "consume"; items: readonly AskedItem[] }
  | {
      kind: "assign";
      plan: number;
      anchor: Moment;
      startsAt: Moment | PeriodEnd;
      endsAt: Moment | PeriodEnd | { kind: "not_said" };
      shorten: boolean;
      asOf: Moment;
    }
  | { kind: "end"; asOf: Moment }
  | { kind: "drop_next" }
  | { kind: "override"; terms: OverridesSpec; endsAt: Moment }
  | { kind: "add"; pool: number; source: CreditSource; credits: number; expiresAt: Moment; times: number }
  | { kind: "revoke"; named: "addition" | "burn_order"; nth: number }
  | { kind: "reverse"; nth: number; quantity: number | null }
  | { kind: "reverse_request"; nth: number }
  | { kind: "publish"; plan: number; version: VersionSpec; reach: VersionReach }
  | { kind: "default"; plan: number | null }
  | { kind: "block" | "unblock" };

/** An item of a request. It is skipped if an earlier item already names its feature. */
export type AskedItem = { feature: number; quantity: AskedQuantity };

/** `drain` and `fill_limit` request exactly what is available, plus `more`. */
export type AskedQuantity = { kind: "of"; quantity: number } | { kind: "drain" | "fill_limit"; more: number };

/** A time relative to the clock, to the history's start or to 1970; or none. */
export type Moment = { kind: "none" } | { kind: "from_now" | "from_start" | "at"; ms: number };

type PeriodEnd = { kind: "period_end" };

const DAY = 86_400_000;

/** Whole days from the start, so that equal expiries are likely and grants merge. */
const expiries: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(100, 31, 300).map((days): Moment => ({ kind: "from_start", ms: days * DAY })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, DAY, 0, -1).map((ms): Moment => ({ kind: "from_now", ms })),
  },
);
const anchors: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        Date.UTC(2026, 0, 31),
        Date.UTC(2025, 11, 31, 1),
        Date.UTC(2027, 7, 31),
        Date.UTC(2028, 1, 29),
      )
      .map((ms): Moment => ({ kind: "at", ms })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(-400, -10, -1, 1, 40)
      .map((days): Moment => ({ kind: "from_now", ms: days * DAY })),
  },
);
/** Often now, otherwise close to the times at which plans end and periods begin. */
const planStarts: fc.Arbitrary<Moment | PeriodEnd> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  { weight: 2, arbitrary: fc.constant<PeriodEnd>({ kind: "period_end" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(1, DAY, 7 * DAY, 40 * DAY, 0, -DAY)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);
const ends: fc.Arbitrary<Moment | PeriodEnd | { kind: "not_said" }> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "not_said" as const }) },
  { weight: 1, arbitrary: fc.constant<PeriodEnd>({ kind: "period_end" }) },
  { weight: 1, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(-1, 0, 1, DAY, 7 * DAY, 40 * DAY)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

const overridesEnds: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(1, DAY, 7 * DAY, 40 * DAY, 0, -1)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

/** Times within the allowed range, at its end, beyond it, and in the past. */
const asOfs: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, -1, -DAY, -40 * DAY, 300_000, 300_001)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

const quantities: fc.Arbitrary<AskedQuantity> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(1, 2, 3, 10, 334, 1000, 1_000_000)
      .map((quantity): AskedQuantity => ({ kind: "of", quantity })),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("drain" as const), more: fc.nat({ max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fill_limit" as const), more: fc.nat({ max: 1 }) }) },
);

const smallQuantities = fc
  .integer({ min: 1, max: 3 })
  .map((quantity): AskedQuantity => ({ kind: "of", quantity }));

/** Weights of the actions, how many features, plans and pools they use, and how many requests in ten have several items. */
type Mix = { among: number; several: number } & Record<Action["kind"], number>;

const NOTHING: Mix = {
  among: 1,
  several: 0,
  check: 0,
  consume: 0,
  assign: 0,
  end: 0,
  drop_next: 0,
  override: 0,
  add: 0,
  revoke: 0,
  reverse: 0,
  reverse_request: 0,
  publish: 0,
  default: 0,
  block: 0,
  unblock: 0,
};
export const EVERYTHING: Mix = {
  among: 4,
  several: 4,
  check: 4,
  consume: 24,
  assign: 12,
  end: 2,
  drop_next: 1,
  override: 6,
  add: 12,
  revoke: 4,
  reverse: 8,
  reverse_request: 5,
  publish: 6,
  default: 2,
  block: 1,
  unblock: 3,
};
export const CREDITS: Mix = { ...NOTHING, consume: 6, add: 6, revoke: 3, reverse: 3, reverse_request: 2 };
/** Additions are as large as possible, and charges make room for more. */
export const NEAR_CAP: Mix = { ...CREDITS, assign: 1, publish: 1 };
export const ITEMS: Mix = { ...CREDITS, among: 4, several: 8, reverse_request: 4, assign: 1, publish: 1 };
export const VERSIONS: Mix = { ...NOTHING, consume: 6, publish: 4, reverse: 1, assign: 1, end: 1 };
export const OVERRIDES: Mix = {
  ...VERSIONS,
  among: 2,
  several: 2,
  consume: 12,
  override: 4,
  publish: 1,
  reverse: 2,
  assign: 2,
};

const additions = mostly(fc.constantFrom(10, 1, 100), fc.constant(ADDABLE_BALANCE_MAX));
export const largeAdditions = fc.constantFrom(
  ADDABLE_BALANCE_MAX,
  ADDABLE_BALANCE_MAX - 100,
  1,
  100,
  10_000_000,
);

export function actionsOf({ among, several, ...weights }: Mix, credits = additions): fc.Arbitrary<Action> {
  const name = fc.nat({ max: among - 1 });
  const place = fc.nat({ max: 9 });
  const items = itemsOf(name, several);
  const arbitraries: fc.WeightedArbitrary<Action>[] = [
    {
      weight: weights.check,
      arbitrary: fc.record({ kind: fc.constant("check"), items }),
    },
    {
      weight: weights.consume,
      arbitrary: fc.record({ kind: fc.constant("consume"), items }),
    },
    {
      weight: weights.assign,
      arbitrary: fc.record({
        kind: fc.constant("assign"),
        plan: name,
        anchor: anchors,
        startsAt: planStarts,
        endsAt: ends,
        shorten: fc.boolean(),
        asOf: asOfs,
      }),
    },
    { weight: weights.end, arbitrary: fc.record({ kind: fc.constant("end"), asOf: asOfs }) },
    { weight: weights.drop_next, arbitrary: fc.constant({ kind: "drop_next" }) },
    {
      weight: weights.override,
      arbitrary: fc.record({ kind: fc.constant("override"), terms: overridesSpecs, endsAt: overridesEnds }),
    },
    {
      weight: weights.add,
      arbitrary: fc.record({
        kind: fc.constant("add"),
        pool: name,
        source: fc.constantFrom<CreditSource>("purchase", "purchase", "manual", "promotion"),
        credits,
        expiresAt: expiries,
        times: mostly(fc.constant(1), fc.constantFrom(49, 51)),
      }),
    },
    {
      weight: weights.revoke,
      arbitrary: fc.record({
        kind: fc.constant("revoke"),
        named: fc.constantFrom("addition", "addition", "burn_order"),
        nth: place,
      }),
    },
    {
      weight: weights.reverse,
      arbitrary: fc.record({
        kind: fc.constant("reverse"),
        nth: place,
        quantity: fc.option<number>(fc.constantFrom(1, 2, 300), { freq: 2 }),
      }),
    },
    {
      weight: weights.reverse_request,
      arbitrary: fc.record({ kind: fc.constant("reverse_request"), nth: place }),
    },
    {
      weight: weights.publish,
      arbitrary: fc.record({
        kind: fc.constant("publish"),
        plan: name,
        version: versionSpecs,
        reach: reaches,
      }),
    },
    {
      weight: weights.default,
      arbitrary: fc.record({ kind: fc.constant("default"), plan: fc.option<number>(name, { freq: 2 }) }),
    },
    { weight: weights.block, arbitrary: fc.constant({ kind: "block" }) },
    { weight: weights.unblock, arbitrary: fc.constant({ kind: "unblock" }) },
  ];
  return fc.oneof(...arbitraries);
}

function itemsOf(feature: fc.Arbitrary<number>, several: number): fc.Arbitrary<readonly AskedItem[]> {
  const item = fc.record({ feature, quantity: quantities });
  // Small quantities are more frequent, because each item must be allowed for the next one to matter.
  const small = fc.record({ feature, quantity: fc.oneof(smallQuantities, quantities) });
  return fc.oneof(
    { weight: 10 - several, arbitrary: fc.tuple(item) },
    { weight: several, arbitrary: fc.array(small, { minLength: 2, maxLength: 4, size: "max" }) },
  );
}

function mostly<T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
