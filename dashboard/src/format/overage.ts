import { countOf, formatCount } from "./numbers.ts";
import { nameOverage } from "./terms.ts";

// Overage is usage after all credits are spent, which is invoiced later. It is never part of a balance.

type Parts = { readonly credits: number; readonly overage: number };

/** "10 credits", "10 credits and 20 credits of overage", "20 credits of overage". */
export function formatCharge({ credits, overage }: Parts): string {
  if (overage === 0) return countOf(credits, "credit");
  if (credits === 0) return `${countOf(overage, "credit")} of overage`;
  return `${countOf(credits, "credit")} and ${countOf(overage, "credit")} of overage`;
}

type Entry = {
  readonly kind: string;
  readonly overage: number;
  /** Reversed quantity of a charge. Null for a reversal. */
  readonly reversedQuantity: number | null;
};

/** "20 credits, to be invoiced", "20 credits reversed". */
export function describeEntryOverage({ kind, overage, reversedQuantity }: Entry): string {
  const credits = countOf(overage, "credit");
  if (kind === "reverse") return `${credits} reversed`;
  return reversedQuantity === 0 ? `${credits}, to be invoiced` : `${credits} before the reversal`;
}

/** "10 credits returned", "10 credits returned, 20 credits of overage reversed". */
export function formatReturn({ credits, overage }: Parts): string {
  const returned = `${countOf(credits, "credit")} returned`;
  return overage === 0 ? returned : `${returned}, ${countOf(overage, "credit")} of overage reversed`;
}

/** The overage that will be reversed with the charge. Null without overage. */
export function describeReversedOverage(overage: number): string | null {
  if (overage === 0) return null;
  return `${countOf(overage, "credit")} of overage will be reversed. If you have already invoiced this overage, issue a credit note.`;
}

type Position = {
  /** Overage limit in credits. Null means unlimited. */
  readonly credits: number | null;
  readonly used: number;
  readonly held: number;
  readonly remaining: number | null;
};

/** Shown below the used overage: "Limit in this period: 500. 360 left, 20 held." */
export function describeOverage({ credits, held, remaining }: Position): string {
  const of = credits === null ? "In this period." : `Limit in this period: ${formatCount(credits)}.`;
  const left = remaining === null ? "No limit" : `${formatCount(remaining)} left`;
  return `${of} ${left}${held === 0 ? "" : `, ${formatCount(held)} held`}.`;
}

/** Shown below the remaining credits: "Then up to 360 credits of overage." */
export function describeOverageLeft({ remaining }: Position): string {
  if (remaining === 0) return "No overage is left once these credits are spent.";
  return `Then ${nameOverage(remaining)}.`;
}

type Left = Pick<Position, "credits" | "remaining">;

/** For a past or present decision: "20 of 500 left", "0 of 500 left", "No limit". */
export function formatOverageLeft({ credits, remaining }: Left): string {
  if (credits === null || remaining === null) return "No limit";
  return `${formatCount(remaining)} of ${formatCount(credits)} left`;
}

/**
 * Credits and overage that a denied request could use: "only 12 credits and 20 credits of overage", "only 40 credits of overage",
 * "no credits". A null overage is not mentioned.
 */
export function nameLeft(credits: number, overage: Left | null): string {
  const remaining = overage === null ? 0 : overage.remaining;
  const more = remaining === null ? "unlimited overage" : `${countOf(remaining, "credit")} of overage`;
  const some = [...(credits === 0 ? [] : [countOf(credits, "credit")]), ...(remaining === 0 ? [] : [more])];
  if (some.length === 0) return overage === null ? "no credits" : "no credits and no overage";
  return `only ${some.join(" and ")}${overage !== null && remaining === 0 ? " and no overage" : ""}`;
}

type Answer = Readonly<Record<string, unknown>>;

/** The overage of an allowed request, from its response. Plans without overage do not have the field. */
export function overageIn(answer: Answer | null | undefined): number {
  const items = answer?.["items"];
  if (Array.isArray(items)) return items.reduce<number>((sum, item) => sum + overageIn(item), 0);
  const overage = answer?.["overageCredits"];
  return typeof overage === "number" ? overage : 0;
}
