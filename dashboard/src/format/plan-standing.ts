type Plan = {
  readonly name: string;
  readonly isDefault: boolean;
  /** End of the current period of the longest allowance. */
  readonly periodEndsAt: string | null;
  readonly endsAt: string | null;
};

type NextPlan = { readonly name: string; readonly startsAt: string; readonly endsAt: string | null };

export type Standing = { readonly plan: Plan | null; readonly nextPlan: NextPlan | null };

/** When the customer leaves the current plan; null if nothing is scheduled. */
export function leavesAt({ plan, nextPlan }: Standing): string | null {
  const ends = [plan?.endsAt ?? null, nextPlan?.startsAt ?? null].filter((end) => end !== null);
  return ends.sort()[0] ?? null;
}

/** The plan that the customer keeps if the first scheduled change is canceled. Null if the customer leaves it anyway. */
export function nameOfKept({ plan, nextPlan }: Standing): string | null {
  return plan === null || (nextPlan !== null && plan.endsAt !== null) ? null : plan.name;
}

/** "Pro", or "Free (default)" for a customer without an assigned plan. */
export function describePlan(plan: Pick<Plan, "name" | "isDefault"> | null): string {
  if (plan === null) return "No plan";
  return plan.isDefault ? `${plan.name} (default)` : plan.name;
}

/** How long the plan lasts and what follows: "Until 8 Dec 2026, then Basic." The page shows the plan's name above. */
export function describeStanding(
  standing: Standing,
  /** Name of the default plan. */
  fallback: string | null,
  formatDay: (at: string) => string,
): string {
  const { plan, nextPlan } = standing;
  if (plan === null && nextPlan === null) return "All checks, charges and new holds are denied.";
  const leaves = leavesAt(standing);
  if (leaves === null) return describeStay(plan, formatDay);
  const until = `${plan === null ? "No plan until" : "Until"} ${formatDay(leaves)}`;
  const afterwards = fallback === null ? "no plan" : `${fallback} (default plan)`;
  if (nextPlan === null)
    return fallback === null ? `${until}. Then every request is denied.` : `${until}, then ${afterwards}.`;
  const next = `${nextPlan.name}${nextPlan.endsAt === null ? "" : ` until ${formatDay(nextPlan.endsAt)}`}`;
  return nextPlan.startsAt === leaves
    ? `${until}, then ${next}.`
    : `${until}, then ${afterwards}. From ${formatDay(nextPlan.startsAt)}: ${next}.`;
}

function describeStay(plan: Plan | null, formatDay: (at: string) => string): string {
  const renews = plan?.periodEndsAt == null ? "" : `Renews ${formatDay(plan.periodEndsAt)}.`;
  if (plan?.isDefault === true) return `Default plan. ${renews}`.trim();
  return renews === "" ? "No end date." : renews;
}
