import type { PlanKey } from "../catalog.ts";

/** What the operator's automation asks for, beside the callers' load. */
export type ManageRequest =
  | {
      readonly operation: "addCredits";
      readonly customerId: string;
      readonly kind: "purchase" | "manual" | "promotion";
      readonly credits: number;
      readonly expiresAtMs: number | null;
      /** Every grant of the run has one: repeated under it, nothing more is added. */
      readonly reference: string;
    }
  | { readonly operation: "assignPlan"; readonly customerId: string; readonly plan: PlanKey }
  | {
      readonly operation: "reverseConsume";
      readonly consumeId: string;
      /** Null: all that is left. */
      readonly quantity: number | null;
    };

export type ManageOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "reversed"; readonly credits: number; readonly quantity: number }
  /** Definitely not executed. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

/** One call after the other, never two at once. */
export type ManageCall = {
  readonly request: ManageRequest;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: ManageOutcome;
};
