import { isFeatureKey, isPlanKey, limitOf } from "../../catalog.ts";
import type { Stored } from "../stored.ts";
import type { Violation } from "../violation.ts";
import { type Account, type Entry, nameOf } from "./account.ts";

/** I4, limits included: what is used follows from the ledger, and never exceeds what the plan allows. */
export function checkLimits(account: Account, stored: Stored): Violation[] {
  return [...checkUse(account, stored), ...checkCounters(account, stored)];
}

/** Entry by entry. Periods are a day, counted from the run's own beginning: none begins anew within a run. */
function checkUse({ customerId, entries }: Account, stored: Stored): Violation[] {
  const planOf = planKeysByVersion(stored);
  const used = new Map<string, number>();
  return entries.flatMap((entry): Violation[] => {
    const { feature, assignment, planVersion } = entry;
    if (!isFeatureKey(feature)) return [];
    const name = `${assignment} ${feature}`;
    const now = (used.get(name) ?? 0) + useOf(entry);
    used.set(name, now);
    const plan = planOf.get(planVersion ?? 0) ?? "";
    const limit = isPlanKey(plan) ? limitOf(plan, feature) : null;
    if (limit === null || (now >= 0 && now <= limit)) return [];
    return [{ invariant: "I4", text: `${nameOf(customerId, entry)} takes ${feature} to ${now} of ${limit}` }];
  });
}

/** Against the counters of the plans a wallet still holds, its present one and those it left. */
function checkCounters({ customerId, state, entries }: Account, { features, plans }: Stored): Violation[] {
  const violations: Violation[] = [];
  for (const held of [...(state.assignment === null ? [] : [state.assignment]), ...state.paused]) {
    const plan = plans.find(({ id }) => id === held.plan)?.key ?? "";
    for (const { id, key } of features) {
      const counter = held.counters.find(({ feature }) => feature === id) ?? null;
      const uses = entries.filter(({ assignment, feature }) => assignment === held.number && feature === key);
      const sum = uses.reduce((total, entry) => total + useOf(entry), 0);
      const isLimited = isPlanKey(plan) && isFeatureKey(key) && limitOf(plan, key) !== null;
      if (counter === null && !isLimited) continue;
      const isRight =
        (counter?.used ?? 0) === sum && (counter?.fromSequence ?? 0) === (uses[0]?.sequence ?? 0);
      if (isRight) continue;
      const told = counter === null ? "no counter" : `${counter.used} from ${counter.fromSequence} on`;
      const text = `${customerId}: plan ${plan} has ${told} for ${key}, and the ledger ${sum} from ${uses[0]?.sequence} on`;
      violations.push({ invariant: "I4", text });
    }
  }
  return violations;
}

export function planKeysByVersion({ plans, planVersions }: Stored): ReadonlyMap<number, string> {
  const keyOf = new Map(plans.map(({ id, key }) => [id, key]));
  return new Map(planVersions.map(({ id, plan }) => [id, keyOf.get(plan) ?? ""]));
}

export function useOf({ kind, quantity }: Entry): number {
  return kind === "consume" ? (quantity ?? 0) : kind === "reverse" ? -(quantity ?? 0) : 0;
}
