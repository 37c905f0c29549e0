import type { Answer } from "../../api/answer.ts";
import type { Cost, Limit, Period } from "../../words/terms.ts";
import type { Terms } from "./plan-terms.ts";

// The contract leaves open what stands before and after a change: it is a document's part, read here with care.

export type CatalogDiff = Answer<"diffCatalog">;
export type CatalogChange = CatalogDiff["changes"][number];

type Content = Readonly<Record<string, unknown>>;

export type FeatureContent = {
  readonly name: string;
  readonly unit: string | null;
  readonly pool: string;
  readonly cost: Cost;
  readonly isArchived: boolean;
};

export type PlanContent = Terms & { readonly name: string; readonly isArchived: boolean };

export function readFeature(content: Content): FeatureContent {
  return {
    name: textOf(content, "name") ?? "",
    unit: textOf(content, "unit"),
    pool: textOf(content, "pool") ?? "credits",
    cost: readCost(content["cost"]),
    isArchived: content["archived"] === true,
  };
}

export function readPlan(content: Content): PlanContent {
  return {
    name: textOf(content, "name") ?? "",
    isArchived: content["archived"] === true,
    allowances: listOf(content, "allowances").map((allowance) => ({
      pool: textOf(allowance, "pool") ?? "credits",
      credits: numberOf(allowance, "credits"),
      period: readPeriod(allowance),
      rollover: numberOf(allowance, "rollover"),
    })),
    features: listOf(content, "features").map((feature) => ({
      feature: textOf(feature, "feature") ?? "",
      pool: textOf(feature, "pool") ?? "credits",
      cost: readCost(feature["cost"]),
      limit: readLimit(feature["limit"]),
    })),
  };
}

export function textOf(content: Content, field: string): string | null {
  const value = content[field];
  return typeof value === "string" ? value : null;
}

function numberOf(content: Content, field: string): number {
  const value = content[field];
  return typeof value === "number" ? value : 0;
}

function listOf(content: Content, field: string): Content[] {
  const value = content[field];
  return Array.isArray(value) ? value.filter(isContent) : [];
}

function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null;
}

function readCost(value: unknown): Cost {
  return isContent(value)
    ? { credits: numberOf(value, "credits"), per: Math.max(1, numberOf(value, "per")) }
    : { credits: 0, per: 1 };
}

function readLimit(value: unknown): Limit | null {
  return isContent(value) ? { quantity: numberOf(value, "quantity"), period: readPeriod(value) } : null;
}

const PERIODS: readonly Period[] = ["day", "week", "month", "year", "once"];

function readPeriod(content: Content): Period {
  return PERIODS.find((period) => period === content["period"]) ?? "once";
}
