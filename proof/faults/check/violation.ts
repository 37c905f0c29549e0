/** Numbered as in the docs. `replies`: guarantees about replies beyond the numbered invariants. */
export type Invariant = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "replies";

export type Violation = { readonly invariant: Invariant; readonly text: string };

export type Verdict = "pass" | "fail" | "unknown";

/** A doubt is something that could not be checked. It changes the verdict from pass to unknown. A violation always fails the run. */
export function reachVerdict(violations: readonly Violation[], doubts: readonly string[]): Verdict {
  if (violations.length > 0) return "fail";
  return doubts.length > 0 ? "unknown" : "pass";
}

export type Facts = Readonly<Record<string, unknown>>;

/** The expected facts that differ, such as `quantity 4 instead of 3`. */
export function listDifferences(found: Facts, expected: Facts): string[] {
  return Object.keys(expected)
    .filter((name) => found[name] !== expected[name])
    .map((name) => `${name} ${found[name]} instead of ${expected[name]}`);
}
