import text from "../../../../docs/guides/catalog.json?raw";
import type { Body } from "../../api/answer.ts";
import { allowanceInWords, costInWords, limitInWords } from "../../words/terms.ts";

type Catalog = Body<"applyCatalog">["catalog"];

/** The very document of the guide: what the guide explains is what is here. */
export const SAMPLE_CATALOG: Catalog = JSON.parse(text);

/** "Image generation": "10 credits per image" */
export function describeFeatures({ features = [] }: Catalog) {
  return features.map(({ key, name, unit = null, cost: { credits, per = 1 } }) => ({
    key,
    name,
    cost: costInWords({ credits, per }, unit),
  }));
}

/** "Free": "100 credits a month, at most 5 images a day" */
export function describePlans({ features = [], plans = [], defaultPlan = null }: Catalog) {
  const unitOf = (wanted: string): string | null => features.find(({ key }) => key === wanted)?.unit ?? null;
  return plans.map(({ key, name, allowances, features: included }) => ({
    key,
    name,
    isDefault: key === defaultPlan,
    terms: [
      ...allowances.map(({ rollover = 0, ...allowance }) => allowanceInWords({ ...allowance, rollover })),
      ...included.flatMap(({ feature, limit = null }) =>
        limit === null ? [] : [limitInWords(limit, unitOf(feature))],
      ),
    ].join(", "),
  }));
}
