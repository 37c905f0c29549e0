import type { PlanVersion } from "./queries.ts";

export type Reach = PlanVersion["reach"];

export const REACHES = ["new_assignments", "next_period", "now"] as const satisfies readonly Reach[];

/** Who gets a version, in the words of the dashboard. */
export const REACH_NAMES: Record<Reach, string> = {
  new_assignments: "New assignments only",
  next_period: "Everyone, at their next period",
  now: "Everyone, now",
};
