import type { Entry } from "./entry.ts";
import type { ReversedConsume } from "./fold.ts";

/** The consume that each reversal of a complete ledger refers to. */
export function reversedConsumes(ledger: readonly Entry[]): Map<Entry, ReversedConsume | null> {
  const reversals = ledger.filter(({ usage }) => usage !== null && usage.reverses !== null);
  const found = new Map<Entry, ReversedConsume | null>();
  for (const [reverses, group] of Map.groupBy(reversals, ({ usage }) => usage?.reverses)) {
    const consume = ledger.find(({ sequence }) => sequence === reverses);
    let reversedQuantity = 0;
    let reversedCredits = 0;
    for (const { usage, amount } of group) {
      reversedQuantity += usage?.quantity ?? 0;
      reversedCredits += amount;
    }
    const reversed = consume === undefined ? null : { ...consume, reversedQuantity, reversedCredits };
    for (const reversal of group) found.set(reversal, reversed);
  }
  return found;
}
