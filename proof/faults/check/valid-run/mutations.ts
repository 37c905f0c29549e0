import { expect, test } from "vitest";
import { checkHistory } from "../check-history.ts";
import type { Invariant } from "../violation.ts";
import type { Run } from "./run.ts";
import { validRun } from "./valid-run.ts";

export type Mutation = {
  readonly bug: string;
  readonly invariant: Invariant;
  /** Where several checks see the bug: which of them is meant. */
  readonly says?: RegExp;
  readonly mutate: (run: Run) => void;
};

/** Checks the checker: each mutation alone, in a run that is valid otherwise. */
export function testMutations(bugs: readonly Mutation[]): void {
  test.each(bugs)("$bug: caught as $invariant", ({ invariant, says = /./, mutate }) => {
    const run = validRun();
    mutate(run);
    const { verdict, violations } = checkHistory(run, run);
    expect(verdict).toBe("fail");
    expect(violations).toContainEqual({ invariant, text: expect.stringMatching(says) });
  });
}
