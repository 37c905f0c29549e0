import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** More failures than this are no accident. */
const FILES_MAX = 5;
/** What fails here even once is broken: these tests look for races and for wrong amounts. */
const NO_SECOND_TRY = /races|processes|conformance|properties|model|recipes/;

/**
 * Writes to the file SECOND_TRY which test files may be tried again, one per line. Writes nothing if the run is not only a few failed
 * files: after an error outside of tests, or if a file did not run to its end.
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
