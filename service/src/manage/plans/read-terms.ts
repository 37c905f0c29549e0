import type { Static } from "typebox";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";
import type { allowanceInputs, planTermsInput } from "../catalog/schema.ts";
import { invalidField } from "../fields.ts";

export function readTerms({ name, allowances, features }: Static<typeof planTermsInput>): PlanTerms {
  refuseRepeats("features", "feature", features);
  return {
    name,
    allowances: readAllowances("allowances", allowances),
    features: features.map(({ feature, limit = null }) => ({ feature, limit })),
  };
}

export function readAllowances(path: string, given: Static<typeof allowanceInputs>): PlanTerms["allowances"] {
  const allowances = given.map(({ pool = "credits", credits, period, rollover = 0 }) => ({
    pool,
    credits,
    period,
    rollover,
  }));
  refuseRepeats(path, "pool", allowances);
  return allowances;
}

/** Refuses a list that contains a key twice. `path` names the list, `field` the key. */
export function refuseRepeats<F extends string>(
  path: string,
  field: F,
  items: readonly { readonly [K in F]: string }[],
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = item[field];
    if (seen.has(key)) {
      const message = "repeats an earlier item";
      throw invalidField({ field: `${path}.${index}.${field}`, code: "repeated", message });
    }
    seen.add(key);
  }
}
