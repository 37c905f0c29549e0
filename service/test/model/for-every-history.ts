import fc from "fast-check";
import { describeScript, show } from "./describe-script.ts";
import { type History, histories } from "./history.ts";
import { type Script, scriptOf } from "./script.ts";

/** Checks random histories. On failure, shows the shortest failing history step by step, and how to repeat it. */
export function forEveryHistory(
  runs: number,
  check: (script: Script) => void,
  among: fc.Arbitrary<History> = histories,
): void {
  const property = fc.property(among, (history) => check(scriptOf(history)));
  const run = fc.check(property, { numRuns: Math.ceil(runs) });
  if (!run.failed) return;
  const [history] = run.counterexample ?? [];
  const described =
    history === undefined ? "no failing history was found in time" : describeScript(scriptOf(history));
  const again = `seed ${run.seed}, path ${run.counterexamplePath}, after ${run.numRuns} histories`;
  throw new Error(`${messageOf(run.errorInstance)}\n\n${described}\n\n${again}`);
}

/** The error message with the complete values, which a failed expectation truncates. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!("actual" in error && "expected" in error)) return error.message;
  return `${error.message}\nreceived: ${show(error.actual)}\nexpected: ${show(error.expected)}`;
}
