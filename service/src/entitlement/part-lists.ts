/** Credits of one grant, or overage counted with that grant. A revocation splits the credits of a grant into two parts. */
type Piece = { readonly grant: number; readonly credits: number; readonly isRevoked?: boolean };

export function sumOf(parts: readonly Pick<Piece, "credits">[]): number {
  let credits = 0;
  for (const part of parts) credits += part.credits;
  return credits;
}

/** Splits parts after the first `credits` credits. */
export function split<P extends Piece>(parts: readonly P[], credits: number): { first: P[]; left: P[] } {
  const first: P[] = [];
  const left: P[] = [];
  let open = Math.max(0, credits);
  for (const part of parts) {
    const taken = Math.min(open, part.credits);
    open -= taken;
    if (taken > 0) first.push({ ...part, credits: taken });
    if (part.credits > taken) left.push({ ...part, credits: part.credits - taken });
  }
  return { first, left };
}

/** Joins two lists in order. Credits of a grant become one part, or two if some of them were revoked. */
export function join<P extends Piece>(parts: readonly P[], more: readonly P[]): P[] {
  const joined = new Map<string, P>();
  for (const part of [...parts, ...more]) {
    const name = `${part.grant} ${part.isRevoked ?? false}`;
    joined.set(name, { ...part, credits: (joined.get(name)?.credits ?? 0) + part.credits });
  }
  return [...joined.values()];
}

/** The credits that an item needs, and the parts that were set aside for it. Items of the same pool can use each other's leftover parts. */
type Need<P extends Piece> = {
  readonly pool: number;
  readonly parts: readonly P[];
  readonly credits: number;
};

/** Spends parts that were set aside. Each item uses its own parts first, then leftover parts of other items in the same pool. */
export function spend<P extends Piece>(needs: readonly Need<P>[]): { spent: P[][]; rest: P[] } {
  const own = needs.map(({ parts, credits }) => split(parts, credits));
  let rest = own.map(({ left }) => left);
  const spent = needs.map(({ pool, credits }, index) => {
    let parts = own[index]?.first ?? [];
    rest = rest.map((left, other) => {
      if (needs[other]?.pool !== pool) return left;
      const more = split(left, credits - sumOf(parts));
      parts = join(parts, more.first);
      return more.left;
    });
    return parts;
  });
  return { spent, rest: rest.reduce<P[]>(join, []) };
}
