import { countOf, formatCount } from "./numbers.ts";

// Formats plan and feature terms: "3 credits per 1,000 tokens", "5,000 credits a month".

export type Period = "day" | "week" | "month" | "year" | "once";
export type Cost = { readonly credits: number; readonly per: number };
export type Limit = { readonly quantity: number; readonly period: Period };
export type Allowance = {
  readonly credits: number;
  readonly period: Period;
  readonly rollover: number;
  /** Overage limit in credits. Null means unlimited. */
  readonly overage: number | null;
};

/** "10 credits per image", "3 credits per 1,000 tokens", "free". */
export function formatCost({ credits, per }: Cost, unit: string | null): string {
  if (credits === 0) return "free";
  const price = countOf(credits, "credit");
  if (per === 1) return unit === null ? `${price} each` : `${price} per ${unit}`;
  return unit === null
    ? `${price} per ${formatCount(per)}`
    : `${price} per ${formatCount(per)} ${pluralOf(unit)}`;
}

/** Charge for a quantity, rounded up to whole credits as in the service. */
export function chargeOf({ credits, per }: Cost, quantity: number): number {
  return Math.ceil((quantity * credits) / per);
}

/** "5,000 credits a month (unused credits roll over for 1 month), then up to 500 credits of overage". */
export function formatAllowance(allowance: Allowance, pool: string | null = null): string {
  const rollover = formatRollover(allowance).map((extra) => ` (${extra})`);
  const overage = formatThen(allowance).map((extra) => `, ${extra}`);
  return [formatPeriodCredits(allowance), pool === null ? "" : ` in ${pool}`, ...rollover, ...overage].join(
    "",
  );
}

/** The terms of an allowance besides its credits: "then unlimited overage", "unused credits roll over for 1 month". */
export function formatExtras(allowance: Allowance): string[] {
  return [...formatThen(allowance), ...formatRollover(allowance)];
}

function formatThen({ overage }: Allowance): string[] {
  return overage === 0 ? [] : [`then ${nameOverage(overage)}`];
}

function formatRollover({ period, rollover }: Allowance): string[] {
  return rollover === 0 || period === "once"
    ? []
    : [`unused credits roll over for ${countOf(rollover, period)}`];
}

/** "up to 500 credits of overage", "unlimited overage", "no overage". */
export function nameOverage(overage: number | null): string {
  if (overage === null) return "unlimited overage";
  return overage === 0 ? "no overage" : `up to ${countOf(overage, "credit")} of overage`;
}

/** "up to 500 credits a month", "unlimited", "none". */
export function formatOverage({ period, overage }: Pick<Allowance, "period" | "overage">): string {
  if (overage === null) return "unlimited";
  if (overage === 0) return "none";
  return `up to ${countOf(overage, "credit")} ${formatSpan(period)}`;
}

/** "5,000 credits a month", "500 one-time credits". */
export function formatPeriodCredits({ credits, period }: Pick<Allowance, "credits" | "period">): string {
  return period === "once"
    ? countOf(credits, "one-time credit")
    : `${countOf(credits, "credit")} a ${period}`;
}

/** "at most 20 exports a day". Without a unit: "at most 20 a day". */
export function formatLimit(
  limit: { readonly quantity: number; readonly period: Period | null } | null,
  unit: string | null,
): string {
  if (limit === null) return "no limit";
  const { quantity, period } = limit;
  const count = unit === null ? formatCount(quantity) : countOf(quantity, unit, pluralOf(unit));
  return `at most ${count} ${formatSpan(period)}`;
}

/** "a day", "in total". Null if the period is no longer known. */
export function formatSpan(period: Period | null): string {
  if (period === null) return "per period";
  return period === "once" ? "in total" : `a ${period}`;
}

/** Units are free text: "token", "query", "GB", "tokens". */
export function pluralOf(unit: string): string {
  if (/[A-Z0-9s]$/.test(unit)) return unit;
  return /[^aeiou]y$/.test(unit) ? `${unit.slice(0, -1)}ies` : `${unit}s`;
}

/** "a viewer", "an admin". */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** "Free, Pro and Scale"; with "or", "50 images, 10 clips or 200 tokens". */
export function joinList(words: readonly string[], conjunction: "and" | "or" = "and"): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} ${conjunction} ${last}`;
}

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Suggests a key for a name: "Team plan" becomes "team-plan". */
export function keyOfName(name: string): string {
  const plain = name.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.replaceAll(/[^a-z0-9._:]+/g, "-").replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
}

/** Suggests a name for a key: "image.render" becomes "Image render". */
export function nameOfKey(key: string): string {
  return capitalize(key.replaceAll(/[._:\-/]+/g, " ").trim());
}
