import { joinWords } from "../../words/terms.ts";
import { type CatalogChange, textOf } from "./catalog-content.ts";
import { hasNewVersion } from "./catalog-sentences.ts";
import { ReachChoice } from "./reach-choice.tsx";
import type { Reach } from "./reaches.ts";

/** Asked only where it makes a difference: where a plan that is there gets a new version. */
export function CatalogReach({
  changes,
  value,
  onChange,
}: {
  changes: readonly CatalogChange[];
  value: Reach;
  onChange: (reach: Reach) => void;
}) {
  const plans = changes.filter(hasNewVersion).map(({ key, after }) => textOf(after, "name") ?? key);
  if (plans.length === 0) return null;
  const who = `Customers on ${joinWords(plans)}`;
  return (
    <ReachChoice
      value={value}
      onChange={onChange}
      notes={{
        new_assignments: `Whoever is assigned a plan from now on. ${who} keep what they have.`,
        next_period: `${who} get the new version when their next period begins.`,
        now: `${who} get the new version at once. What they have used of this period counts.`,
      }}
    />
  );
}
