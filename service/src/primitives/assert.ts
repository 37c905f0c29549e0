/** Holds in production too: a broken invariant must stop the request, never pass as an answer. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/** Ends every switch: the compiler proves the branch unreachable, and the runtime says so if it is not. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
