/** Active in production too: a broken invariant must fail the request, never return a result. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/** The default of every switch: the compiler checks that it is unreachable, and it throws at runtime. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
