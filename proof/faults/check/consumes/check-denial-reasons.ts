import { chargeOf, isFeatureKey, isPlanKey, PLANS } from "../../catalog.ts";
import type { Stored, StoredDenial } from "../stored.ts";
import type { Violation } from "../violation.ts";
import type { Account } from "../wallets/account.ts";
import { planKeysByVersion, useOf } from "../wallets/check-limits.ts";

/** Every denial was right at the place in the ledger that it names, also those whose answer was lost. */
export function checkDenialReasons(account: Account, stored: Stored): Violation[] {
  const planOf = planKeysByVersion(stored);
  const moment: Moment = { balance: 0, used: new Map() };
  let next = 0;
  return account.denials
    .toSorted((a, b) => a.sequence - b.sequence)
    .flatMap((denial): Violation[] => {
      for (
        let entry = account.entries[next];
        entry !== undefined && entry.sequence <= denial.sequence;
        entry = account.entries[++next]
      ) {
        moment.balance = entry.balanceAfter;
        const name = useName(entry);
        moment.used.set(name, (moment.used.get(name) ?? 0) + useOf(entry));
      }
      const isAhead = denial.sequence > account.wallet.sequence;
      const plan = planOf.get(denial.planVersion ?? 0) ?? "";
      const problem = isAhead ? "the ledger does not go that far" : findProblem(denial, plan, moment);
      if (problem === null) return [];
      const text = `${denial.marker} of ${account.customerId}, denied for ${denial.reason} at ${denial.sequence}: ${problem}`;
      return [{ invariant: "I4", text }];
    });
}

/** Where the ledger stands when a denial is decided. */
type Moment = { balance: number; readonly used: Map<string, number> };

/** One assignment to a plan is taken up again and again, so that a version names it. */
function useName({ planVersion, feature }: { planVersion: number | null; feature: string | null }): string {
  return `${planVersion} ${feature}`;
}

function findProblem(denial: StoredDenial, plan: string, moment: Moment): string | null {
  const { feature, quantity, balance, creditsRequired } = denial;
  if (!isFeatureKey(feature) || !isPlanKey(plan)) return `feature ${feature} and plan ${plan} are not sold`;
  if (balance !== moment.balance) return `the balance was ${moment.balance}, and not ${balance}`;
  const charge = chargeOf(feature, quantity);
  switch (denial.reason) {
    case "insufficient_credits":
      if (creditsRequired !== charge) return `it costs ${charge}, and not ${creditsRequired}`;
      return balance < charge ? null : `the balance of ${balance} is enough for ${charge}`;
    case "limit_reached":
      return findWrongLimit(denial, moment.used.get(useName(denial)) ?? 0);
    case "feature_not_in_plan":
      return Object.hasOwn(PLANS[plan].features, feature) ? `${plan} has ${feature}` : null;
    default:
      return "no request of this run deserves that";
  }
}

function findWrongLimit({ quantity, limitQuantity, limitUsed }: StoredDenial, used: number): string | null {
  if (limitQuantity === null || limitUsed === null) return "the limit is not told";
  if (used !== limitUsed) return `${used} were used, and not ${limitUsed}`;
  return used + quantity > limitQuantity ? null : `${used} and ${quantity} are within ${limitQuantity}`;
}
