/** Also active in production, because a request that breaks an invariant must fail instead of returning a result. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/** For the default case of a switch. The compiler checks that the case is unreachable. At runtime, it throws an error. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
