import text from "../../../../docs/guides/catalog.json?raw";
import type { Body } from "../../api/answer.ts";
import { countOf, formatCount } from "../../words/numbers.ts";

type Catalog = Body<"applyCatalog">["catalog"];

/** The very document of the guide: what the guide explains is what is here. */
export const SAMPLE_CATALOG: Catalog = JSON.parse(text);

/** "Image generation": "10 credits per image" */
export function describeFeatures({ features = [] }: Catalog): { key: string; name: string; cost: string }[] {
  return features.map(({ key, name, unit, cost: { credits, per = 1 } }) => {
    const what = per === 1 ? (unit ?? "use") : `${formatCount(per)} ${unit ?? "use"}s`;
    return { key, name, cost: `${countOf(credits, "credit")} per ${what}` };
  });
}

export function describePlans({ features = [], plans = [], defaultPlan = null }: Catalog) {
  const unitOf = (wanted: string): string => features.find(({ key }) => key === wanted)?.unit ?? wanted;
  return plans.map(({ key, name, allowances, features: included }) => ({
    key,
    name,
    isDefault: key === defaultPlan,
    terms: [
      ...allowances.map(({ credits, period }) => `${countOf(credits, "credit")} a ${period}`),
      ...allowances.flatMap(({ rollover = 0, period }) =>
        rollover === 0 ? [] : [`unused ones kept ${countOf(rollover, period)} longer`],
      ),
      ...included.flatMap(({ feature, limit }) =>
        limit === null || limit === undefined
          ? []
          : [`at most ${countOf(limit.quantity, unitOf(feature))} a ${limit.period}`],
      ),
    ].join(", "),
  }));
}
