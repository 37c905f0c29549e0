import { charge } from "../../../service/test/model/credits.ts";
import { FEATURES, isFeatureKey } from "../catalog.ts";
import type { Call, Item } from "../history.ts";
import { type Account, nameOf } from "./accounts.ts";
import { findDecision } from "./answers.ts";
import type { Stored, StoredEntry } from "./stored.ts";
import { listDifferences, type Violation } from "./violation.ts";

/** I1: the charges of a request are complete and consecutive, and have the same time, key and marker. */
export function checkItems({ customerId, entries }: Account): Violation[] {
  const complain = (entry: StoredEntry, text: string): Violation => {
    const place = `charge ${(entry.item ?? 0) + 1} of ${entry.items}`;
    return { invariant: "I1", text: `${nameOf(customerId, entry)}, ${place}, ${text}` };
  };
  return entries.flatMap((entry, index): Violation[] => {
    const { kind, item, items } = entry;
    if (kind !== "consume" || item === null || items === null) return [];
    const violations: Violation[] = [];
    const isNext = (other: StoredEntry | undefined, by: 1 | -1): other is StoredEntry =>
      other?.kind === "consume" && other.item === item + by && other.sequence === entry.sequence + by;
    if (item < items - 1 && !isNext(entries[index + 1], 1))
      violations.push(complain(entry, "is not followed by the next charge"));
    if (item === 0) return violations;
    const previous = entries[index - 1];
    if (!isNext(previous, -1)) return [...violations, complain(entry, "does not follow the previous charge")];
    const { recordedAtMs, keyHash, marker } = previous;
    const differences = listDifferences(entry, { items: previous.items, recordedAtMs, keyHash, marker });
    if (differences.length > 0)
      violations.push(complain(entry, `differs from the previous charge: ${differences.join(", ")}`));
    return violations;
  });
}

/** The price of an item. The catalog does not change during a run. */
export function dueFor({ feature, quantity }: Item): number {
  return isFeatureKey(feature) ? charge(FEATURES[feature], quantity) : 0;
}

/** How a charge stores its position in the request. */
export function placeOf(index: number, count: number): Pick<StoredEntry, "item" | "items"> {
  return count === 1 ? { item: null, items: null } : { item: index, items: count };
}

/** Each item of a response names the pool of its feature. */
export function checkPools(calls: readonly Call[], { features, pools }: Stored): Violation[] {
  const poolKeyOf = new Map(pools.map(({ id, key }) => [id, key]));
  const poolOf = new Map(features.map(({ key, pool }) => [key, poolKeyOf.get(pool)]));
  return calls.flatMap((call): Violation[] => {
    const decision = findDecision(call);
    if (decision === null || !decision.hasItems) return [];
    return decision.items.flatMap(({ feature, pool }): Violation[] => {
      const expected = poolOf.get(feature);
      if (pool === expected) return [];
      const text = `${call.request.marker} returned pool ${pool} for ${feature}, which is in ${expected}`;
      return [{ invariant: "replies", text }];
    });
  });
}
