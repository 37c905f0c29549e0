import { chargeOf, isFeatureKey } from "../../catalog.ts";
import type { Violation } from "../violation.ts";
import { type Account, nameOf } from "../wallets/account.ts";

/** I1, for entries whose answer was lost, too: a charge is the price of its quantity, whole and rounded up. */
export function checkPrices({ customerId, entries }: Account): Violation[] {
  return entries.flatMap((entry): Violation[] => {
    if (entry.kind !== "consume") return [];
    const { feature, quantity, amount } = entry;
    if (!isFeatureKey(feature) || quantity === null)
      return [
        { invariant: "I1", text: `${nameOf(customerId, entry)} charges for ${quantity} of ${feature}` },
      ];
    const due = chargeOf(feature, quantity);
    if (amount === -due || (amount === 0 && due === 0)) return [];
    const text = `${nameOf(customerId, entry)} charges ${-amount} for ${quantity} of ${feature}, which costs ${due}`;
    return [{ invariant: "I1", text }];
  });
}
