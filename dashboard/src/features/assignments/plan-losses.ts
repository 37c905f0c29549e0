import { countOf } from "../../format/numbers.ts";
import { formatPeriodCredits, joinList, type Period } from "../../format/terms.ts";
import { applyOverrides, type OwnTerms } from "../customers/own-terms.ts";
import type { Customer, PlanVersion } from "../customers/queries.ts";

type Terms = Pick<PlanVersion, "allowances" | "features">;

export type Names = {
  readonly feature: (key: string) => string;
  /** Name of a pool. Null if there is only one pool. */
  readonly pool: (key: string) => string | null;
};

/** The features and credits that a customer loses with another plan. Overrides apply to both plans. */
export function lossesOf(
  { before, after }: { readonly before: Terms; readonly after: Terms },
  overrides: Customer["overrides"],
  names: Names,
): string[] {
  const [old, own] = [applyOverrides(before, overrides), applyOverrides(after, overrides)];
  const kept = new Set(includedIn(own));
  const lost = includedIn(old).filter((feature) => !kept.has(feature));
  return [
    ...(lost.length === 0 ? [] : [`No longer included: ${joinList(lost.map(names.feature))}.`]),
    ...old.allowances.flatMap((was) => {
      const is = own.allowances.find(({ pool }) => pool === was.pool) ?? null;
      if (!isLess(creditsOf(was), is && creditsOf(is))) return [];
      const name = names.pool(was.pool);
      const given = is === null ? countOf(0, "credit") : formatPeriodCredits(creditsOf(is));
      return [
        `${name === null ? "" : `${name}: `}${given} instead of ${formatPeriodCredits(creditsOf(was))}.`,
      ];
    }),
  ];
}

function includedIn({ features }: OwnTerms): string[] {
  return features.filter(({ cost }) => cost !== null).map(({ feature }) => feature);
}

type PeriodCredits = { readonly credits: number; readonly period: Period };

function creditsOf({ own, credits, period }: OwnTerms["allowances"][number]): PeriodCredits {
  return { credits: own ?? credits, period };
}

const A_YEAR = { day: 365, week: 52, month: 12, year: 1 } as const;

function isLess(was: PeriodCredits, is: PeriodCredits | null): boolean {
  if (was.credits === 0) return false;
  if (is === null) return true;
  if (was.period === is.period) return is.credits < was.credits;
  // Amounts cannot be compared. Only the change from renewing to one-time credits counts as a loss.
  if (was.period === "once" || is.period === "once") return is.period === "once";
  return is.credits * A_YEAR[is.period] < was.credits * A_YEAR[was.period];
}
