import fc from "fast-check";
import { type History, histories } from "./history.ts";
import { type Script, scriptOf } from "./script.ts";
import { show, tell } from "./tell.ts";

/** Fails with the shortest history that was found to fail, told step by step, and how to play it again. */
export function forEveryHistory(
  runs: number,
  check: (script: Script) => void,
  among: fc.Arbitrary<History> = histories,
): void {
  const property = fc.property(among, (history) => check(scriptOf(history)));
  const run = fc.check(property, { numRuns: runs });
  if (!run.failed) return;
  const [history] = run.counterexample ?? [];
  const told = history === undefined ? "no history was found in time" : tell(scriptOf(history));
  const again = `seed ${run.seed}, path ${run.counterexamplePath}, after ${run.numRuns} histories`;
  throw new Error(`${messageOf(run.errorInstance)}\n\n${told}\n\n${again}`);
}

/** A failed expectation shortens what it shows; here it is whole. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!("actual" in error && "expected" in error)) return error.message;
  return `${error.message}\nreceived: ${show(error.actual)}\nexpected: ${show(error.expected)}`;
}
