import { expect, test } from "vitest";
import { checkHistory } from "../check-history.ts";
import type { Invariant } from "../violation.ts";
import { honestRun } from "./honest-run.ts";
import type { Run } from "./run.ts";

export type PlantedBug = {
  readonly bug: string;
  readonly invariant: Invariant;
  /** Where several checks see the bug: which of them is meant. */
  readonly says?: RegExp;
  readonly plant: (run: Run) => void;
};

/** Check the checker: each bug alone, in a run that is honest otherwise. */
export function testPlanted(bugs: readonly PlantedBug[]): void {
  test.each(bugs)("$bug: caught as $invariant", ({ invariant, says = /./, plant }) => {
    const run = honestRun();
    plant(run);
    const { verdict, violations } = checkHistory(run, run);
    expect(verdict).toBe("fail");
    expect(violations).toContainEqual({ invariant, text: expect.stringMatching(says) });
  });
}
