import type { Static } from "typebox";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";
import { refuseRepeats } from "../catalog/refuse-repeats.ts";
import type { allowanceInputs, planTermsInput } from "../catalog/schema.ts";

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
