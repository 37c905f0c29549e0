import { inspect } from "node:util";
import type { Catalog, PlanVersion } from "../../src/entitlement/catalog.ts";
import type { Disagreement } from "./compare.ts";
import type { Script, ScriptStep } from "./script.ts";

/** Describes a script: the catalog, then a line for each step. */
export function describeScript(script: Script): string {
  const lines = [
    `starts ${time(script.start)}, the customer is ${script.isKnown ? "known" : "unknown"}`,
    ...[...script.firstCatalog.features.values()].map(
      ({ key, pool, cost }) => `  ${key}: pool ${pool}, ${cost.credits} per ${cost.per}`,
    ),
    ...[...script.firstCatalog.versions.values()].map((version) => `  ${describeVersion(version)}`),
    `  default: ${script.firstCatalog.defaultPlan.plan ?? "none"}`,
  ];
  let catalog = script.firstCatalog;
  for (const [index, step] of script.steps.entries()) {
    lines.push(`${index}. ${time(step.clock)} ${describeStep(step, catalog)}`);
    catalog = step.catalog;
  }
  return lines.join("\n");
}

export function describeDisagreement({ step, about, model, service }: Disagreement): string {
  return `at step ${step} they disagree about ${about}\nthe model: ${show(model)}\nthe service: ${show(service)}`;
}

/** Prints the complete value, with readable times. */
export function show(value: unknown): string {
  const shown = inspect(value, { depth: 8, breakLength: 110, maxArrayLength: null });
  return shown.replaceAll(/\b1[5-9]\d{11}\b/g, (ms) => time(Number(ms)));
}

function describeStep({ catalog, act }: ScriptStep, before: Catalog): string {
  switch (act.kind) {
    case "edit": {
      const published = [...catalog.versions.values()].filter(({ id }) => !before.versions.has(id));
      const chosen = `default: ${catalog.defaultPlan.plan ?? "none"} since ${time(catalog.defaultPlan.since)}`;
      return published.length === 0 ? chosen : `publish ${published.map(describeVersion).join()}`;
    }
    case "block":
      return act.isBlocked ? "block" : "unblock";
    case "notice":
      return "notice";
    case "ask": {
      const { kind, ...request } = act.request;
      const fields = Object.entries(request).map(([name, value]) => `${name} ${describeValue(name, value)}`);
      return [act.isCheck ? "check" : kind === "decide" ? "consume" : kind, ...fields].join(", ");
    }
  }
}

function describeValue(name: string, value: unknown): string {
  if (name === "items" && Array.isArray(value))
    return value.map(({ feature, quantity }) => `${quantity} of ${feature}`).join(" and ");
  if (typeof value === "number" && /At$|^anchor$/.test(name)) return time(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function describeVersion({
  id,
  plan,
  number,
  publishedAt,
  reach,
  allowances,
  features,
}: PlanVersion): string {
  const given = allowances.map(
    ({ pool, credits, period, rollover }) => `pool ${pool}: ${credits}/${period} rollover ${rollover}`,
  );
  const included = [...features.values()].map(({ feature, pool, cost, limit }) => {
    const limited = limit === null ? "" : ` limit ${limit.quantity}/${limit.period}`;
    return `feature ${feature}: pool ${pool}, ${cost.credits} per ${cost.per}${limited}`;
  });
  const name = `plan ${plan} version ${number} (id ${id}, ${reach}, ${time(publishedAt)})`;
  return `${name}: ${[...given, ...included].join("; ")}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
