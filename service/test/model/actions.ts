import fc from "fast-check";
import type { VersionReach } from "../../src/entitlement/catalog.ts";
import type { HoldTerms } from "../../src/entitlement/open-hold.ts";
import {
  type OverridesSpec,
  overridesSpecs,
  reaches,
  type VersionSpec,
  versionSpecs,
} from "./catalog-spec.ts";
import { ADDABLE_BALANCE_MAX } from "./credits.ts";
import {
  anchors,
  asOfs,
  ends,
  expiries,
  holdEnds,
  type Moment,
  overridesEnds,
  type PeriodEnd,
  planStarts,
} from "./moments.ts";
import type { CreditSource } from "./request.ts";

/** An action in a history. Numbers select a plan, feature or pool by position, modulo their count. */
export type Action =
  | { kind: "check" | "consume"; items: readonly AskedItem[] }
  | { kind: "hold"; items: readonly AskedItem[]; terms: HoldTerms }
  | { kind: "settle"; nth: number; used: readonly Share[] | null; atMostHeld: boolean }
  | { kind: "release"; nth: number }
  | { kind: "extend"; nth: number; more: number | null; expiresAt: Moment | { kind: "in"; ms: number } }
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
  /** Leaves this share of the allowance, plus `more`. */
  | { kind: "reduce"; pool: number; share: number; more: number }
  | { kind: "reverse"; nth: number; quantity: number | null }
  | { kind: "reverse_request"; nth: number }
  | { kind: "publish"; plan: number; version: VersionSpec; reach: VersionReach }
  | { kind: "default"; plan: number | null }
  | { kind: "block" | "unblock" };

/** An item of a request. It is skipped if an earlier item already names its feature. */
export type AskedItem = { feature: number; quantity: AskedQuantity };

/** A quantity relative to the held quantity. */
export type Share = { times: number; plus: number };

/** `drain` and `fill_limit` request exactly what is available, plus `more`. */
export type AskedQuantity = { kind: "of"; quantity: number } | { kind: "drain" | "fill_limit"; more: number };

const DAY = 86_400_000;

/** Nothing, less than the held quantity, exactly that quantity, or more. */
const shares: fc.Arbitrary<Share> = fc.record({
  times: fc.constantFrom(1, 0, 0.5, 2),
  plus: fc.constantFrom(0, 0, 1, 500),
});

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
export type Mix = { among: number; several: number } & Record<Action["kind"], number>;

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
      weight: weights.hold,
      arbitrary: fc.record({
        kind: fc.constant("hold"),
        items,
        terms: fc.record({
          expiresInMs: fc.constantFrom(7 * DAY, DAY, 60_000, 40 * DAY),
          onExpiry: fc.constantFrom("release", "charge"),
          memberId: fc.constant(null),
        }),
      }),
    },
    {
      weight: weights.settle,
      arbitrary: fc.record({
        kind: fc.constant("settle"),
        nth: place,
        used: fc.option<readonly Share[]>(fc.array(shares, { minLength: 4, maxLength: 4 }), { freq: 4 }),
        atMostHeld: fc.boolean(),
      }),
    },
    { weight: weights.release, arbitrary: fc.record({ kind: fc.constant("release"), nth: place }) },
    {
      weight: weights.extend,
      arbitrary: fc.record({
        kind: fc.constant("extend"),
        nth: place,
        more: fc.option<number>(fc.constantFrom(1, 2, 10, 1000, -1), { freq: 4 }),
        expiresAt: holdEnds,
      }),
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
      weight: weights.reduce,
      arbitrary: fc.record({
        kind: fc.constant("reduce"),
        pool: name,
        share: fc.constantFrom(0, 0.3, 1),
        more: fc.constantFrom(0, 0, 1),
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
  // Small quantities are more frequent, because each item must be allowed for the next item to matter.
  const small = fc.record({ feature, quantity: fc.oneof(smallQuantities, quantities) });
  return fc.oneof(
    { weight: 10 - several, arbitrary: fc.tuple(item) },
    { weight: several, arbitrary: fc.array(small, { minLength: 2, maxLength: 4, size: "max" }) },
  );
}

function mostly<T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
