import type { Entry } from "./entry.ts";
import { sumOf } from "./part-lists.ts";
import type { GrantFacts } from "./revoke-grant.ts";
import type { Hold, Wallet } from "./wallet.ts";

/** A customer's overage, recomputed from the ledger and the open holds. Methods return a description of the first error, or null. */
export class FoldedOverage {
  readonly #grants: readonly GrantFacts[];
  /** Used overage, by the number of the allowance's grant. */
  readonly #used = new Map<number, number>();

  constructor(grants: readonly GrantFacts[]) {
    this.#grants = grants;
  }

  add({ kind, pool, usage }: Entry): string | null {
    for (const { grant, credits } of usage?.overage ?? []) {
      const facts = this.#grants[grant - 1];
      if (facts?.number !== grant || facts.kind !== "allowance" || facts.pool !== pool)
        return `counts overage with grant ${grant}, which is not an allowance of pool ${pool}`;
      if (credits <= 0) return `has invalid overage for grant ${grant}: ${credits}`;
      const used = (this.#used.get(grant) ?? 0) + (kind === "reverse" ? -credits : credits);
      if (used < 0) return `undoes ${credits} credits of overage in grant ${grant}, which has used less`;
      this.#used.set(grant, used);
    }
    return null;
  }

  /** Checks the overage counts of the current plan and of paused plans. */
  compare({ assignment, paused }: Wallet, open: readonly Hold[]): string | null {
    const plans = [...(assignment === null ? [] : [assignment]), ...paused.map((plan) => plan.assignment)];
    const held = open.flatMap(({ items }) => items.flatMap((item) => item.overage));
    for (const { grant, overageUsed, overageHeld } of plans.flatMap(({ allowances }) => allowances)) {
      const used = this.#used.get(grant) ?? 0;
      if (overageUsed !== used)
        return `grant ${grant} has a used overage of ${overageUsed} in the wallet, ${used} according to its ledger`;
      const inHolds = sumOf(held.filter((part) => part.grant === grant));
      if (overageHeld !== inHolds)
        return `grant ${grant} has a held overage of ${overageHeld} in the wallet, ${inHolds} according to its holds`;
    }
    return null;
  }
}
