import type { Instant } from "../primitives/brand.ts";
import { endsSooner, switchPlan, versionAt } from "./assignment.ts";
import { type Catalog, getPlan } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import type { AssignmentChangeKind } from "./entry.ts";
import type { NextPlan } from "./wallet.ts";

/** Replaces the pending change. */
export function schedulePlan(catalog: Catalog, draft: Draft, next: NextPlan): void {
  draft.wallet = { ...draft.wallet, next };
  note(catalog, draft, { kind: "scheduled", next, effectiveAt: next.startsAt });
}

/** Drops the pending change, if there is one. */
export function unschedulePlan(catalog: Catalog, draft: Draft): void {
  const { next } = draft.wallet;
  if (next === null) return;
  draft.wallet = { ...draft.wallet, next: null };
  note(catalog, draft, { kind: "unscheduled", next, effectiveAt: draft.at });
}

/** Applies the pending change. A plan archived after it was scheduled still starts, because archiving never removes a customer's plan. */
export function startNextPlan(catalog: Catalog, draft: Draft, next: NextPlan): void {
  const { plan, anchor, shorten } = next;
  const { assignment } = draft.wallet;
  draft.wallet = { ...draft.wallet, next: null };
  const isCut = assignment?.plan === plan && endsSooner(assignment, next.endsAt);
  const endsAt = isCut && !shorten ? assignment.endsAt : next.endsAt;
  switchPlan(catalog, draft, { plan, anchor, endsAt });
}

/**
 * Adds a row about the pending change to the plan history. A plan has no assignment number or version before it starts, so the row
 * shows the values that the plan would get now. If the plan resumes instead, it keeps its earlier number.
 */
function note(
  catalog: Catalog,
  draft: Draft,
  row: { readonly kind: AssignmentChangeKind; readonly next: NextPlan; readonly effectiveAt: Instant },
): void {
  const { plan, anchor, endsAt } = row.next;
  const number = draft.wallet.assignmentCount + 1;
  const version = versionAt(getPlan(catalog, plan), draft.at).id;
  draft.noteAssignment(
    row.kind,
    { number, plan, version, anchor, endsAt, isDefault: false },
    row.effectiveAt,
  );
}
