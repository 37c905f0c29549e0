import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** If more files fail, a slow machine is not the cause. */
const FILES_MAX = 5;
/** These tests look for races and wrong amounts. A single failure is a bug, so they get no second try. */
const NO_SECOND_TRY = /races|processes|conformance|properties|model|recipes|expire-due/;

/**
 * Writes the test files that may be tried again to the file SECOND_TRY, one per line. Writes nothing after an error outside of tests or if
 * a file did not complete, because a second try would hide the problem.
 */
export default class SecondTry implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
    const isWhole = modules.every((module) => ["passed", "failed", "skipped"].includes(module.state()));
    const mayTry = failed.length <= FILES_MAX && !failed.some((file) => NO_SECOND_TRY.test(file));
    const path = process.env["SECOND_TRY"];
    if (path !== undefined && isWhole && unhandled.length === 0 && mayTry)
      writeFileSync(path, failed.join("\n"));
  }
}
