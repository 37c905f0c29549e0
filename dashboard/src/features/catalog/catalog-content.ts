import type { Answer } from "../../api/answer.ts";
import { formatCount } from "../../format/numbers.ts";
import { type Cost, formatCost, type Limit, type Period } from "../../format/terms.ts";
import {
  diffTerms,
  isSamePrice,
  type Names,
  type Sentence,
  sentencesOf,
  type Terms,
} from "../plans/plan-terms.ts";

// The API does not type `before` and `after` of a change, so they are parsed here.

export type CatalogDiff = Answer<"diffCatalog">;
export type CatalogChange = CatalogDiff["changes"][number];

type Content = Readonly<Record<string, unknown>>;

type FeatureContent = {
  readonly name: string;
  readonly unit: string | null;
  readonly pool: string;
  readonly cost: Cost;
  readonly isArchived: boolean;
};

type PlanContent = Terms & { readonly name: string; readonly isArchived: boolean };

function readFeature(content: Content): FeatureContent {
  return {
    name: textOf(content, "name") ?? "",
    unit: textOf(content, "unit"),
    pool: textOf(content, "pool") ?? "credits",
    cost: readCost(content["cost"]),
    isArchived: content["archived"] === true,
  };
}

function readPlan(content: Content): PlanContent {
  return {
    name: textOf(content, "name") ?? "",
    isArchived: content["archived"] === true,
    allowances: listOf(content, "allowances").map((allowance) => ({
      pool: textOf(allowance, "pool") ?? "credits",
      credits: numberOf(allowance, "credits"),
      period: readPeriod(allowance),
      rollover: numberOf(allowance, "rollover"),
      overage: allowance["overage"] === null ? null : numberOf(allowance, "overage"),
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

export const NOUNS: Record<CatalogChange["noun"], string> = {
  pool: "Pool",
  feature: "Feature",
  event_key: "Event key",
  plan: "Plan",
  default_plan: "Default plan",
};

export function nameOf({ noun, key, after }: CatalogChange): string {
  return noun === "default_plan" ? NOUNS[noun] : (textOf(after, "name") ?? key);
}

/** Title of a change: "Plan Pro", "Default plan". */
export function titleOf(change: CatalogChange): string {
  return change.noun === "default_plan" ? nameOf(change) : `${NOUNS[change.noun]} ${nameOf(change)}`;
}

/** Names of features and pools after the change. */
export function namesOf(changes: readonly CatalogChange[]): Names {
  const find = (noun: CatalogChange["noun"], key: string) =>
    changes.find((change) => change.noun === noun && change.key === key)?.after;
  const pools = changes.filter(({ noun }) => noun === "pool").length;
  return {
    feature: (key) => {
      const after = find("feature", key);
      return after === undefined ? { name: key, unit: null } : readFeature(after);
    },
    pool: (key) => (pools < 2 ? null : (textOf(find("pool", key) ?? {}, "name") ?? key)),
  };
}

export function sentencesOfChange(
  change: CatalogChange,
  names: Names,
  planName: (key: string) => string,
): Sentence[] {
  const { noun, before, after } = change;
  switch (noun) {
    case "feature":
      return featureSentences(change, names);
    case "plan":
      return planSentences(change, names);
    case "default_plan": {
      const name = (key: string | null): string => (key === null ? "none" : planName(key));
      const [was, is] = [textOf(before ?? {}, "plan"), textOf(after, "plan")];
      return [changed(`Default plan: ${name(was)} → ${name(is)}.`)];
    }
    case "pool":
    case "event_key":
      return before === null
        ? [added(`Name: ${textOf(after, "name")}.`), ...thresholdsChanged({}, after)]
        : [...renamed(before, after), ...unitChanged(before, after), ...thresholdsChanged(before, after)];
  }
}

/** Whether an existing plan gets new terms. */
export function hasNewVersion({ noun, before, after }: CatalogChange): boolean {
  if (noun !== "plan" || before === null) return false;
  const { allowances, features, limits, costs } = diffTerms(readPlan(before), readPlan(after));
  return [
    ...[allowances.added, allowances.removed, allowances.changed, features.added, features.removed],
    ...[limits, costs],
  ].some((list) => list.length > 0);
}

function featureSentences({ before, after }: CatalogChange, names: Names): Sentence[] {
  const is = readFeature(after);
  const priceOf = ({ cost, unit, pool: key }: FeatureContent): string => {
    const pool = names.pool(key);
    if (pool === null) return formatCost(cost, unit);
    return cost.credits === 0 ? `free (${pool})` : `${formatCost(cost, unit)} from ${pool}`;
  };
  if (before === null) return [added(`Cost: ${priceOf(is)}.`)];
  const was = readFeature(before);
  return [
    ...renamed(before, after),
    ...unitChanged(before, after),
    ...(isSamePrice(was, is) ? [] : [changed(`Cost: ${priceOf(was)} → ${priceOf(is)}.`)]),
    ...archiving(was, is),
  ];
}

function planSentences({ before, after }: CatalogChange, names: Names): Sentence[] {
  const is = readPlan(after);
  if (before === null) return sentencesOf(diffTerms(null, is), names);
  const was = readPlan(before);
  return [...renamed(before, after), ...sentencesOf(diffTerms(was, is), names), ...archiving(was, is)];
}

type ChangeContent = CatalogChange["after"];

function renamed(before: ChangeContent, after: ChangeContent): Sentence[] {
  const [was, is] = [textOf(before, "name"), textOf(after, "name")];
  return was === is ? [] : [changed(`Name: ${was} → ${is}.`)];
}

function unitChanged(before: ChangeContent, after: ChangeContent): Sentence[] {
  const [was, is] = [textOf(before, "unit"), textOf(after, "unit")];
  return was === is ? [] : [changed(`Unit: ${was ?? "none"} → ${is ?? "none"}.`)];
}

function thresholdsChanged(before: Content, after: Content): Sentence[] {
  const [was, is] = [thresholdsOf(before), thresholdsOf(after)];
  return was === is ? [] : [changed(`Low balances: ${was} → ${is}.`)];
}

function thresholdsOf({ lowBalances }: Content): string {
  return Array.isArray(lowBalances) && lowBalances.length > 0
    ? lowBalances.map((threshold) => formatCount(Number(threshold))).join(", ")
    : "none";
}

function archiving(was: { isArchived: boolean }, is: { isArchived: boolean }): Sentence[] {
  if (was.isArchived === is.isArchived) return [];
  return is.isArchived ? [removed("Archived.")] : [added("Restored.")];
}

const added = (text: string): Sentence => ({ kind: "added", text });
const removed = (text: string): Sentence => ({ kind: "removed", text });
const changed = (text: string): Sentence => ({ kind: "changed", text });
