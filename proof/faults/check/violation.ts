/** As docs and proofs number them. `replies`: what the API promises of its replies beyond the invariants. */
export type Invariant = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "replies";

export type Violation = { readonly invariant: Invariant; readonly text: string };

export type Verdict = "pass" | "fail" | "unknown";

/** A doubt is something that could not be looked at. It never passes; a violation that was seen stays one beside it. */
export function reachVerdict(violations: readonly Violation[], doubts: readonly string[]): Verdict {
  if (violations.length > 0) return "fail";
  return doubts.length > 0 ? "unknown" : "pass";
}
