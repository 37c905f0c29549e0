/** A commit was sent, and nobody can say whether it took effect. Never to be treated as either. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}
