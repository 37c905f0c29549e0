import type { Body } from "../../api/answer.ts";
import type { Feature } from "./queries.ts";

/** Form values; an empty string means not set. */
export type FeatureValues = {
  key: string;
  name: string;
  unit: string;
  pool: string;
  credits: number;
  per: number;
};

export function newFeature(key: string, name: string): FeatureValues {
  return { key, name, unit: "", pool: "credits", credits: 1, per: 1 };
}

export function valuesOf({ key, name, unit, pool, cost }: Feature): FeatureValues {
  return { key, name, unit: unit ?? "", pool, ...cost };
}

export function toBody({ name, unit, pool, credits, per }: FeatureValues): Body<"putFeature"> {
  const named = unit.trim();
  return { name: name.trim(), unit: named === "" ? null : named, pool, cost: { credits, per } };
}
