import { assert } from "../../words/assert.ts";
import type { EnvironmentKind } from "../../words/secret.ts";

export function readEnvironmentKind(value: unknown): EnvironmentKind {
  assert(value === "test" || value === "live", "an environment is test or live");
  return value;
}
